// Tests of attributes: two calls of an operation that differ in one setting look different to an observer and in a
// diagram. Operations whose results are an Index or a Mask, and those that make constants, are in no graph.
#include <xgrad/core/diagram/render/export.h>
#include <xgrad/core/graph/observe.h>
#include <xgrad/ops/ops.h>

#include <functional>
#include <optional>
#include <string>

#include "support/check.h"

namespace xgrad::testing {
namespace {

using linalg::cholesky, linalg::qr, linalg::QrMode, linalg::solve_triangular, linalg::svd;

// All that an observer sees of the operations that run, but for the numbers of tensors with axes.
struct Trace : Observer {
  std::string text;

  void operation(const OperationRun& run) override {
    append(text, cat('\n', run.op, ' ', run.output.shape()));
    for (const Tensor* input : run.inputs) {
      if (input->rank() == 0 && !input->requires_grad()) append(text, cat(" (", input->item(), ')'));
    }
    for (const Attribute& attribute : run.attributes) {
      append(text, cat(", ", attribute.name));
      std::visit([this](const auto& value) { append(text, ' '), show(value); }, attribute.value);
    }
  }

 private:
  template <class T>
  void show(const T& value) {
    append(text, cat(value));
  }
  template <class T>
  void show(const BasicArray<T>& value) {
    append(text, cat(value.shape()));
    for (const T& element : value) append(text, cat(' ', element));
  }
};

std::string traced(const std::function<Tensor()>& f) {
  Trace trace;
  f();
  return trace.text;
}

// What a diagram of the result shows, without the values of arrays.
std::string drawn(const std::function<Tensor()>& f) {
  const TraceAll all;
  return to_json(GraphView::of({f()}));
}

// The calls look different to an observer. Those whose setting only decides on an Index or a Mask, of which a diagram
// has the shape, may be drawn alike.
void differ_in_data(const std::string& what, const std::function<Tensor()>& one, const std::function<Tensor()>& other) {
  const std::string seen = traced(one);
  const bool differs = seen != traced(other);
  CHECK_MESSAGE(differs, what, " is seen alike:", seen);
}

// And in a diagram.
void differ(const std::string& what, const std::function<Tensor()>& one, const std::function<Tensor()>& other) {
  differ_in_data(what, one, other);
  const bool differs = drawn(one) != drawn(other);
  CHECK_MESSAGE(differs, what, " is drawn alike");
}

// The calls f(one) and f(other).
template <class T, class U = T, class F>
void differ_in_data(const std::string& what, const T& one, const U& other, const F& f) {
  differ_in_data(
      what, [&] { return f(one); }, [&] { return f(other); });
}
template <class T, class U = T, class F>
void differ(const std::string& what, const T& one, const U& other, const F& f) {
  differ(
      what, [&] { return f(one); }, [&] { return f(other); });
}

const Tensor list = variable(normal({4}, 1)), square_matrix = variable(normal({4, 4}, 2)),
             cube = variable(normal({4, 4, 4}, 3)), images = variable(normal({2, 4, 8, 8}, 4)),
             positive = variable(uniform({4, 4}, 1, 2, 5));
const RandomKey first_key{1, 1}, other_key{1, 2};
const Mask upper = triu(Mask({4, 4}, true)), lower = tril(Mask({4, 4}, true));
const Index ids({4}, {0, 1, 2, 1}), other_ids({4}, {2, 1, 0, 3});

TEST_CASE("calls of elementwise operations that differ in a setting look different") {
  const Tensor& x = square_matrix;
  differ("leaky_relu", 0.2, 0.3, [&](double slope) { return leaky_relu(x, {.negative_slope = slope}); });
  differ("celu", 1, 2, [&](double alpha) { return celu(x, alpha); });
  differ("elu", 1, 2, [&](double alpha) { return elu(x, alpha); });
  differ("gelu", Gelu::erf, Gelu::tanh, [&](Gelu form) { return gelu(x, form); });
  differ("glu", 0, 1, [&](int axis) { return glu(x, axis); });
  differ("hardshrink", 0.5, 1, [&](double lambda) { return hardshrink(x, lambda); });
  differ("softshrink", 0.5, 1, [&](double lambda) { return softshrink(x, lambda); });
  differ("rrelu lower", 0.1, 0.2, [&](double lower) { return rrelu(x, {.lower = lower}, first_key); });
  differ("rrelu upper", 0.4, 0.5, [&](double upper) { return rrelu(x, {.upper = upper}, first_key); });
  differ("rrelu key", first_key, other_key, [&](RandomKey key) { return rrelu(x, {}, key); });
  differ("hardtanh min_val", -1, 0, [&](double min) { return hardtanh(x, {.min_val = min}); });
  differ("hardtanh max_val", 1, 2, [&](double max) { return hardtanh(x, {.max_val = max}); });
  differ("clamp min", -1, 0, [&](double min) { return clamp(x, {.min = min}); });
  differ("clamp max", 1, 0, [&](double max) { return clamp(x, {.max = max}); });
  differ("clamp side", true, false, [&](bool above) { return clamp(x, above ? Bounds{.min = 1} : Bounds{.max = 1}); });
  differ("nan_to_num nan", 0, 1, [&](double nan) { return nan_to_num(x, {.nan = nan}); });
  differ("nan_to_num posinf", 0, 1, [&](double posinf) { return nan_to_num(x, {.posinf = posinf}); });
  differ("nan_to_num neginf", 0, 1, [&](double neginf) { return nan_to_num(x, {.neginf = neginf}); });
  differ("pow", 2, 3, [&](double exponent) { return pow(x, exponent); });
  differ_in_data("where", upper, lower, [&](const Mask& mask) { return where(mask, x, cube); });
}

TEST_CASE("calls that arrange elements and differ in a setting look different") {
  const Tensor& x = square_matrix;
  differ("broadcast_to", Shape{2, 4}, {3, 4}, [&](Shape shape) { return broadcast_to(list, shape); });
  differ("sum_to", Shape{4, 1}, {1, 4}, [&](Shape shape) { return sum_to(x, shape); });
  differ("reshape", Shape{2, 8}, {8, 2}, [&](Shape shape) { return reshape(x, shape); });
  differ("flatten first", 0, 1, [&](int first) { return flatten(images, first); });
  differ("flatten last", 1, 2, [&](int last) { return flatten(images, 0, last); });
  differ("unflatten axis", 0, 1, [&](int axis) { return unflatten(cube, axis, {2, 2}); });
  differ("unflatten sizes", Shape{2, 2}, {4, 1}, [&](Shape sizes) { return unflatten(x, 0, sizes); });
  differ("squeeze", Axes{0}, {2}, [&](Axes axes) { return squeeze(reshape(x, {1, 16, 1}), axes); });
  differ("unsqueeze", 0, 1, [&](int axis) { return unsqueeze(x, axis); });
  differ("permute", Axes{0, 2, 1}, {2, 1, 0}, [&](Axes axes) { return permute(cube, axes); });
  differ("transpose", 1, 2, [&](int axis) { return transpose(cube, 0, axis); });
  differ("movedim from", 1, 2, [&](int from) { return movedim(cube, from, 0); });
  differ("movedim to", 1, 2, [&](int to) { return movedim(cube, 0, to); });
  differ("flip", Axes{0}, {1}, [&](Axes axes) { return flip(x, axes); });
  differ("roll shift", 1, 2, [&](int shift) { return roll(x, shift, 0); });
  differ("roll axis", 0, 1, [&](int axis) { return roll(x, 1, axis); });
  differ("repeat_interleave count", 2, 3, [&](int count) { return repeat_interleave(x, count, 0); });
  differ_in_data("repeat_interleave counts", Index({4}, {1, 2, 0, 1}), Index({4}, {2, 1, 0, 1}),
                 [&](Index counts) { return repeat_interleave(x, counts, 0); });
  differ("repeat_interleave axis", 0, 1, [&](int axis) { return repeat_interleave(x, 2, axis); });
  differ("tile", Shape{2, 1}, {1, 2}, [&](Shape counts) { return tile(x, counts); });
  differ("meshgrid", MeshIndexing::ij, MeshIndexing::xy, [&](MeshIndexing indexing) {
    return meshgrid({list, list}, {.indexing = indexing})[0];
  });
  differ("tril", 0, 1, [&](int offset) { return tril(x, offset); });
  differ("triu", 0, 1, [&](int offset) { return triu(x, offset); });

  differ("slice start", 0, 1, [&](int start) { return slice(x, {slice(start, start + 2)}); });
  differ("slice position", 0, 1, [&](int at) { return x[{at}]; });
  differ("slice step", 1, -1, [&](int step) { return x[{slice(none, none, step)}]; });
  differ("slice axis", false, true, [&](bool second) { return second ? x[{_, 1}] : x[{1}]; });
  differ("slice new_axis", false, true, [&](bool second) { return second ? x[{_, new_axis}] : x[{new_axis}]; });
  differ("place", 0, 1, [&](int at) { return place(list, {at}, {4, 4}); });
  differ("place shape", 3, 4, [&](int rows) { return place(list, {0}, {rows, 4}); });
  differ("narrow axis", 0, 1, [&](int axis) { return narrow(cube, axis, 0, 4); });
  differ("narrow start", 0, 1, [&](int start) { return narrow(x, 0, start, 2); });
  differ("narrow length", 1, 2, [&](int length) { return narrow(x, 0, 0, length); });
  differ("split size", 1, 2, [&](int size) { return split(x, size)[0]; });
  differ("split lengths", 1, 2, [&](int first) { return split(x, {first, 3 - first, 1})[1]; });
  differ("split axis", 0, 1, [&](int axis) { return split(x, 4, axis)[0]; });
  differ("unbind axis", 0, 1, [&](int axis) { return unbind(x, axis)[1]; });
  differ("chunk count", 1, 2, [&](int count) { return chunk(x, count)[0]; });
  differ("chunk axis", 0, 1, [&](int axis) { return chunk(cube, 1, axis)[0]; });
  differ("pad sides", 0, 1, [&](int before) { return pad(x, {{before, 2 - before}, {0, 0}}); });
  differ("pad value", 0, 1, [&](double value) { return pad(x, {{1, 0}, {0, 0}}, value); });
  differ_in_data("pad mode", PadMode::reflect, PadMode::circular, [&](PadMode mode) {
    return pad(x, {{1, 0}, {0, 0}}, mode);
  });
  differ_in_data("pad sides of a mode", 0, 1, [&](int before) {
    return pad(x, {{before, 2 - before}, {0, 0}}, PadMode::replicate);
  });

  differ("concat", 0, 1, [&](int axis) { return concat({x, x}, axis); });
  differ("stack", 0, 1, [&](int axis) { return stack({x, x}, axis); });
  differ("sort axis", 0, 1, [&](int axis) { return sort(x, {.axis = axis}).values; });
  differ_in_data("sort descending", false, true, [&](bool down) { return sort(x, {.descending = down}).values; });
}

TEST_CASE("calls that choose elements and differ in a setting look different") {
  const Tensor& x = square_matrix;
  differ_in_data("embedding ids", ids, other_ids, [&](Index of) { return embedding(x, of); });
  differ("embedding padding_idx", 0, 1, [&](int row) { return embedding(x, ids, {.padding_idx = row}); });
  differ("index_select axis", 0, 1, [&](int axis) { return index_select(x, axis, ids); });
  differ("index_add axis", 0, 1, [&](int axis) { return index_add(x, axis, ids, x); });
  const Index columns = broadcast_to(ids, {4, 4});
  differ("gather axis", 0, 1, [&](int axis) { return gather(x, axis, columns); });
  differ("scatter axis", 0, 1, [&](int axis) { return scatter(x, axis, columns, x); });
  differ("scatter value", 0, 1, [&](double value) { return scatter(x, 0, columns, value); });
  differ("scatter_add axis", 0, 1, [&](int axis) { return scatter_add(x, axis, columns, x); });
  differ("take_along_dim axis", 0, 1, [&](int axis) { return take_along_dim(x, columns, axis); });
  differ_in_data("masked_fill mask", upper, lower, [&](Mask mask) { return masked_fill(x, mask, 0); });
  differ("masked_fill value", 0, 1, [&](double value) { return masked_fill(x, upper, value); });
  differ_in_data("masked_select", upper, lower, [&](Mask mask) { return masked_select(x, mask); });
  differ("topk k", 1, 2, [&](int k) { return topk(x, k).values; });
  differ("topk axis", 0, 1, [&](int axis) { return topk(x, 4, {.axis = axis}).values; });
  differ("bincount minlength", 5, 6, [&](int least) { return bincount(ids, list, {.minlength = least}); });
}

TEST_CASE("reductions that differ in a setting look different") {
  const Tensor& x = square_matrix;
  differ("sum", 0, 1, [&](int axis) { return sum(x, axis); });
  differ("sum keepdim", false, true, [&](bool keep) { return sum(x, 0, {.keepdim = keep}); });
  differ("mean", 0, 1, [&](int axis) { return mean(x, axis); });
  differ("var axis", 0, 1, [&](int axis) { return var(x, axis); });
  differ("var correction", 0, 1, [&](double correction) { return var(x, {}, {.correction = correction}); });
  differ("stddev axis", 0, 1, [&](int axis) { return stddev(x, axis); });
  differ("stddev correction", 0, 1, [&](double correction) { return stddev(x, {}, {.correction = correction}); });
  differ("var_mean axis", 0, 1, [&](int axis) { return var_mean(x, axis).mean; });
  differ("var_mean correction", 0, 1,
         [&](double correction) { return var_mean(x, {}, {.correction = correction}).var; });
  differ("max", 0, 1, [&](int axis) { return max(x, Axes{axis}); });
  differ("max along", 0, 1, [&](int axis) { return max(x, axis).values; });
  differ("min", 0, 1, [&](int axis) { return min(x, Axes{axis}); });
  differ("min along", 0, 1, [&](int axis) { return min(x, axis).values; });
  differ("prod", 0, 1, [&](int axis) { return prod(x, axis); });
  differ("logsumexp", 0, 1, [&](int axis) { return logsumexp(x, axis); });
  differ("median", 0, 1, [&](int axis) { return median(x, axis).values; });
  differ_in_data("kthvalue k", 1, 2, [&](int k) { return kthvalue(x, k).values; });
  differ("kthvalue axis", 0, 1, [&](int axis) { return kthvalue(x, 1, axis).values; });
  differ("mode axis", 0, 1, [&](int axis) { return mode(x, axis).values; });
  differ_in_data("quantile q", 0.25, 0.75, [&](double q) { return quantile(x, q, 0); });
  differ("quantile axis", 0, 1, [&](int axis) { return quantile(x, 0.5, axis); });
  differ_in_data("quantile interpolation", QuantileInterpolation::lower, QuantileInterpolation::higher,
                 [&](QuantileInterpolation kind) { return quantile(x, 0.5, 0, {.interpolation = kind}); });
  differ("cumsum", 0, 1, [&](int axis) { return cumsum(x, axis); });
  differ("cumprod", 0, 1, [&](int axis) { return cumprod(x, axis); });
}

TEST_CASE("products that differ in a setting look different") {
  const Tensor& x = square_matrix;
  differ("matmul transpose_a", false, true, [&](bool turned) { return matmul(x, x, {.transpose_a = turned}); });
  differ("matmul transpose_b", false, true, [&](bool turned) { return matmul(x, x, {.transpose_b = turned}); });
  differ("einsum", "ij,jk->ik", "ij,kj->ik", [&](const char* formula) { return einsum(formula, {x, x}); });
  differ("tensordot count", 1, 2, [&](int count) { return tensordot(x, x, count); });
  differ("tensordot axes_a", 0, 1, [&](int axis) { return tensordot(x, x, Axes{axis}, Axes{0}); });
  differ("tensordot axes_b", 0, 1, [&](int axis) { return tensordot(x, x, Axes{0}, Axes{axis}); });

  const Tensor triangle = tril(positive) + 4 * eye(4), definite = matmul(triangle, triangle, {.transpose_b = true});
  differ("solve_triangular upper", false, true,
         [&](bool upper) { return solve_triangular(definite, x, {.upper = upper}); });
  differ("cholesky", false, true, [&](bool upper) { return cholesky(definite, {.upper = upper}); });
  const Tensor high = cube[{0, _, slice(0, 2)}];
  differ("qr", QrMode::reduced, QrMode::complete, [&](QrMode mode) { return qr(high, {.mode = mode}).q; });
  differ("svd", true, false, [&](bool full) { return svd(high, {.full_matrices = full}).u; });
  differ("vector_norm axis", 0, 1, [&](int axis) { return vector_norm(x, {.axis = axis}); });
  for (const double ord : {-infinity, -1., 0., 1., 3., infinity}) {
    differ("vector_norm ord", 2, ord, [&](double p) { return vector_norm(x, {.ord = p}); });
  }
  differ("diagonal offset", -1, 1, [&](int offset) { return diagonal(x, offset); });
  differ("diag_embed offset", -1, 1, [&](int offset) { return diag_embed(list, offset); });
  differ("diag", -1, 1, [&](int offset) { return diag(list, offset); });

  differ("normalize p", 2, 3, [&](double p) { return normalize(x, {.p = p}); });
  differ("normalize axis", 0, 1, [&](int axis) { return normalize(x, {.axis = axis}); });
  differ("normalize eps", 1e-12, 1e-6, [&](double eps) { return normalize(x, {.eps = eps}); });
  differ("cosine_similarity axis", 0, 1, [&](int axis) { return cosine_similarity(x, x, {.axis = axis}); });
  differ("cosine_similarity eps", 1e-12, 1e-6, [&](double eps) { return cosine_similarity(x, x, {.eps = eps}); });
  differ("pairwise_distance p", 2, 3, [&](double p) { return pairwise_distance(x, x, {.p = p}); });
  differ("pairwise_distance eps", 1e-6, 1e-3, [&](double eps) { return pairwise_distance(x, x, {.eps = eps}); });
  differ("linear_attention heads", 1, 2, [&](int heads) { return linear_attention(cube, cube, cube, heads); });
  differ("linear_attention causal", false, true,
         [&](bool causal) { return linear_attention(cube, cube, cube, 1, {.causal = causal}); });
  differ_in_data("linear_attention lengths", ids, other_ids,
                 [&](Index lengths) { return linear_attention(cube, cube, cube, 1, {.lengths = lengths}); });
}

TEST_CASE("attentions that differ in a setting look different") {
  const Tensor& x = cube;
  const auto attend = [&](const AttentionOptions& options) { return multi_head_attention(x, x, x, 2, options); };
  const auto with_mask = [&](const AttentionMask& mask) { return attend({.mask = mask}); };
  differ("heads", 1, 2, [&](int heads) { return multi_head_attention(x, x, x, heads); });
  differ("kv_heads", 2, 4,
         [&](int heads) { return multi_head_attention(x, narrow(x, 2, 0, heads), x, 4, {.kv_heads = heads}); });
  differ("causal", false, true, [&](bool causal) { return with_mask({.causal = causal}); });
  differ("band before", 0, 1, [&](int before) { return with_mask({.band = AttentionBand{before, 1}}); });
  differ("band after", 0, 1, [&](int after) { return with_mask({.band = AttentionBand{1, after}}); });
  differ_in_data("lengths", ids, other_ids, [&](Index lengths) { return with_mask({.lengths = lengths}); });
  differ_in_data("masked", upper, lower, [&](Mask masked) { return with_mask({.masked = masked}); });
  differ("dropout", 0.25, 0.5, [&](double p) { return attend({.dropout = p, .key = first_key}); });
  differ("key", first_key, other_key, [&](RandomKey key) { return attend({.dropout = 0.5, .key = key}); });
  differ("scale", 1, 2, [&](double scale) { return attend({.scale = scale}); });
  differ("one head, scale", 1, 2,
         [&](double scale) { return scaled_dot_product_attention(x, x, x, {.scale = scale}); });
  differ("packed heads", 1, 2, [&](int heads) { return multi_head_attention(concat({x, x, x}, 2), heads); });
  differ("weights, heads", 1, 2, [&](int heads) { return attention_weights(x, x, heads); });
  differ("weights, scale", 1, 2, [&](double scale) { return attention_weights(x, x, 1, {.scale = scale}); });
  differ_in_data("weights, causal", false, true,
                 [&](bool causal) { return attention_weights(x, x, 1, {.mask = {.causal = causal}}); });
  differ("rotary heads", 1, 2, [&](int heads) { return rotary(x, {.heads = heads}); });
  differ("rotary first", 0, 1, [&](int first) { return rotary(x, {.first = first}); });
  differ("rotary layout", RotaryLayout::halves, RotaryLayout::interleaved,
         [&](RotaryLayout layout) { return rotary(x, {.layout = layout}); });
  differ("rotary theta", 10000, 500000, [&](double theta) { return rotary(x, {.theta = theta}); });
  const auto scaled = [&](RotaryScaling scaling) { return rotary(x, {.scaling = scaling}); };
  differ("rotary scaling", false, true, [&](bool is_scaled) { return is_scaled ? scaled({}) : rotary(x); });
  differ("rotary factor", 8, 4, [&](double factor) { return scaled({.factor = factor}); });
  differ("rotary low", 1, 2, [&](double low) { return scaled({.low = low}); });
  differ("rotary high", 4, 8, [&](double high) { return scaled({.high = high}); });
  differ("rotary context", 8192, 4096, [&](int context) { return scaled({.context = context}); });
}

TEST_CASE("layers that differ in a setting look different") {
  const Tensor& x = square_matrix;
  differ("softmax", 0, 1, [&](int axis) { return softmax(x, axis); });
  differ("log_softmax", 0, 1, [&](int axis) { return log_softmax(x, axis); });
  differ_in_data("masked_softmax lengths", ids, other_ids, [&](Index lengths) { return masked_softmax(x, lengths); });
  differ_in_data("masked_softmax masked", upper, lower, [&](Mask masked) { return masked_softmax(x, masked); });
  differ("layer_norm eps", 1e-5, 1e-3, [&](double eps) { return layer_norm(x, {}, {}, {.eps = eps}); });
  differ("layer_norm normalized", Shape{4}, {4, 4},
         [&](Shape sizes) { return layer_norm(cube, {}, {}, {.normalized = sizes}); });
  differ("rms_norm eps", 1e-5, 1e-3, [&](double eps) { return rms_norm(x, {}, {.eps = eps}); });
  differ("rms_norm normalized", Shape{4}, {4, 4},
         [&](Shape sizes) { return rms_norm(cube, {}, {.normalized = sizes}); });
  differ("batch_norm", 1e-5, 1e-3, [&](double eps) { return batch_norm(x, {}, {}, {.eps = eps}).y; });
  differ("dropout p", 0.25, 0.5, [&](double p) { return dropout(x, p, first_key); });
  differ("dropout all", 1, 0.5, [&](double p) { return dropout(x, p, first_key); });
  differ("dropout key", first_key, other_key, [&](RandomKey key) { return dropout(x, 0.5, key); });
  differ("dropout seed", first_key, RandomKey{2, 1}, [&](RandomKey key) { return dropout(x, 0.5, key); });
  differ("dropout1d p", 0.25, 0.5, [&](double p) { return dropout1d(cube, p, first_key); });
  differ("dropout1d key", first_key, other_key, [&](RandomKey key) { return dropout1d(cube, 0.5, key); });
  differ("dropout2d p", 0.25, 0.5, [&](double p) { return dropout2d(images, p, first_key); });
  differ("dropout2d key", first_key, other_key, [&](RandomKey key) { return dropout2d(images, 0.5, key); });
  differ("alpha_dropout p", 0.25, 0.5, [&](double p) { return alpha_dropout(x, p, first_key); });
  differ_in_data("alpha_dropout key", first_key, other_key, [&](RandomKey key) { return alpha_dropout(x, 0.5, key); });
  differ("feature_alpha_dropout p", 0.25, 0.5, [&](double p) { return feature_alpha_dropout(x, p, first_key); });
  differ_in_data("feature_alpha_dropout key", first_key, other_key,
                 [&](RandomKey key) { return feature_alpha_dropout(x, 0.5, key); });
  differ("pixel_shuffle", 1, 2, [&](int factor) { return pixel_shuffle(images, factor); });
  differ("pixel_unshuffle", 1, 2, [&](int factor) { return pixel_unshuffle(images, factor); });
  differ("channel_shuffle", 2, 4, [&](int groups) { return channel_shuffle(images, groups); });

  const Tensor steps = variable(normal({4, 3, 4})), gates = variable(normal({4, 3, 16})),
               three = gates[{_, _, slice(0, 12)}];
  const Tensor w = variable(normal({16, 4})), b = variable(normal({12}));
  const Index lengths({4}, {1, 2, 3, 2}), other_lengths({4}, {3, 2, 1, 2});
  differ("rnn f", Squash::tanh, Squash::relu, [&](Squash f) { return rnn(steps, x, x, f).output; });
  const auto recurrences = [&](const std::string& what, const auto& f) {
    differ_in_data(cat(what, " lengths"), lengths, other_lengths, [&](Index of) { return f({.lengths = of}); });
    differ(cat(what, " reverse"), false, true, [&](bool reverse) { return f({.reverse = reverse}); });
  };
  recurrences("rnn", [&](const RecurrenceOptions& options) { return rnn(steps, x, x, Squash::tanh, options).output; });
  recurrences("lstm", [&](const RecurrenceOptions& options) { return lstm(gates, w, x, x, options).output; });
  recurrences("gru",
              [&](const RecurrenceOptions& options) { return gru(three, w[{slice(0, 12)}], b, x, options).output; });
}

TEST_CASE("convolutions and poolings that differ in a setting look different") {
  const Tensor sequences = images[{_, _, 0}], kernels = variable(normal({4, 4, 3, 3})), kernel = kernels[{_, _, 0}],
               narrow_kernels = kernels[{_, slice(0, 1)}];
  differ("conv1d stride", 1, 2, [&](int stride) { return conv1d(sequences, kernel, {}, {.stride = stride}); });
  differ("conv1d padding", 0, 1, [&](int padding) { return conv1d(sequences, kernel, {}, {.padding = padding}); });
  differ("conv1d dilation", 1, 2, [&](int dilation) { return conv1d(sequences, kernel, {}, {.dilation = dilation}); });
  differ("conv1d groups", 1, 2, [&](int groups) {
    return conv1d(sequences[{_, slice(0, groups)}], kernel[{_, slice(0, 1)}], {}, {.groups = groups});
  });
  differ("conv2d stride", Size2d(1, 2), Size2d(2, 1),
         [&](Size2d stride) { return conv2d(images, kernels, {}, {.stride = stride}); });
  differ("conv2d padding", Size2d(1, 0), Size2d(0, 1), [&](Size2d padding) {
    return conv2d(images, kernels, {}, {.padding = {padding.height, padding.width}});
  });
  differ("conv2d same padding", true, false,
         [&](bool same) { return conv2d(images, kernels, {}, {.padding = same ? Padding2d(same_padding) : 0}); });
  differ("conv2d dilation", Size2d(1, 2), Size2d(2, 1),
         [&](Size2d dilation) { return conv2d(images, kernels, {}, {.dilation = dilation}); });
  differ("conv2d groups", 1, 2, [&](int groups) {
    return conv2d(images[{_, slice(0, groups)}], narrow_kernels, {}, {.groups = groups});
  });

  const auto transposed1d = [&](const ConvTranspose1dFuncOptions& options) {
    return conv_transpose1d(sequences, kernel, {}, options);
  };
  differ("conv_transpose1d stride", 1, 2, [&](int stride) { return transposed1d({.stride = stride}); });
  differ("conv_transpose1d padding", 0, 1, [&](int padding) { return transposed1d({.padding = padding}); });
  differ("conv_transpose1d output_padding", 0, 1,
         [&](int more) { return transposed1d({.stride = 2, .output_padding = more}); });
  differ("conv_transpose1d dilation", 1, 2, [&](int dilation) { return transposed1d({.dilation = dilation}); });
  differ("conv_transpose1d groups", 1, 2, [&](int groups) { return transposed1d({.groups = groups}); });
  const auto transposed2d = [&](const ConvTranspose2dFuncOptions& options) {
    return conv_transpose2d(images, kernels, {}, options);
  };
  differ("conv_transpose2d stride", Size2d(1, 2), Size2d(2, 1),
         [&](Size2d stride) { return transposed2d({.stride = stride}); });
  differ("conv_transpose2d padding", Size2d(1, 0), Size2d(0, 1),
         [&](Size2d padding) { return transposed2d({.padding = padding}); });
  differ("conv_transpose2d output_padding", Size2d(1, 0), Size2d(0, 1),
         [&](Size2d more) { return transposed2d({.stride = 2, .output_padding = more}); });
  differ("conv_transpose2d output_padding and padding", 0, 1,
         [&](int more) { return transposed2d({.stride = 3, .padding = 1 + more, .output_padding = 2 * more}); });
  differ("conv_transpose2d dilation", Size2d(1, 2), Size2d(2, 1),
         [&](Size2d dilation) { return transposed2d({.dilation = dilation}); });
  differ("conv_transpose2d groups", 1, 2, [&](int groups) { return transposed2d({.groups = groups}); });

  differ("unfold kernel", Size2d(1, 3), Size2d(3, 1), [&](Size2d size) {
    return unfold(images, size, {.padding = {size.height - 1, size.width - 1}});
  });
  differ("unfold stride", Size2d(1, 2), Size2d(2, 1),
         [&](Size2d stride) { return unfold(images, 2, {.stride = stride}); });
  differ("unfold padding", Size2d(1, 0), Size2d(0, 1),
         [&](Size2d padding) { return unfold(images, 2, {.padding = padding}); });
  differ("unfold dilation", Size2d(1, 2), Size2d(2, 1),
         [&](Size2d dilation) { return unfold(images, 2, {.dilation = dilation}); });
  const auto folded = [&](Size2d size, Size2d kernel, const UnfoldOptions& options) {
    const Tensor columns = unfold(variable(normal({1, 1, size.height, size.width})), kernel, options);
    return fold(variable(columns.value()), size, kernel, options);
  };
  differ("fold size", Size2d(4, 3), Size2d(3, 4), [&](Size2d size) { return folded(size, 2, {}); });
  differ("fold kernel", Size2d(1, 3), Size2d(3, 1), [&](Size2d kernel) { return folded(4, kernel, {}); });
  differ("fold stride", Size2d(1, 2), Size2d(2, 1), [&](Size2d stride) { return folded(4, 2, {.stride = stride}); });
  differ("fold padding", Size2d(1, 0), Size2d(0, 1),
         [&](Size2d padding) { return folded(4, 2, {.padding = padding}); });
  differ("fold dilation", Size2d(1, 2), Size2d(2, 1),
         [&](Size2d dilation) { return folded(4, 2, {.dilation = dilation}); });

  const auto interpolated = [&](Interpolation mode, const InterpolateOptions& more) {
    InterpolateOptions options = more;
    options.mode = mode;
    return interpolate(images, options);
  };
  differ("interpolate size", Size2d(3, 4), Size2d(4, 3),
         [&](Size2d size) { return interpolate(images, {.size = size}); });
  differ("interpolate scale_factor", 1.4, 1.45,
         [&](double factor) { return interpolate(images, {.scale_factor = factor}); });
  differ("interpolate factor or size", false, true, [&](bool by_size) {
    return by_size ? interpolate(images, {.size = 11}) : interpolate(images, {.scale_factor = 1.4});
  });
  differ("interpolate mode", Interpolation::nearest, Interpolation::bilinear,
         [&](Interpolation mode) { return interpolated(mode, {.size = 4}); });
  differ("interpolate align_corners", AlignCorners::no, AlignCorners::yes, [&](AlignCorners align) {
    return interpolated(Interpolation::bilinear, {.size = 4, .align_corners = align});
  });
  differ("interpolate antialias", false, true,
         [&](bool antialias) { return interpolated(Interpolation::bilinear, {.size = 4, .antialias = antialias}); });

  differ("max_pool1d kernel", 3, 4, [&](int size) { return max_pool1d(sequences, size, {.stride = 4}); });
  differ("max_pool1d stride", 4, 5, [&](int stride) { return max_pool1d(sequences, 2, {.stride = stride}); });
  differ("max_pool1d padding", 0, 1,
         [&](int padding) { return max_pool1d(sequences, 3, {.stride = 3, .padding = padding, .ceil_mode = true}); });
  differ("max_pool1d dilation", 1, 2,
         [&](int dilation) { return max_pool1d(sequences, 2, {.stride = 4, .dilation = dilation}); });
  differ("max_pool1d ceil_mode", false, true, [&](bool ceil) { return max_pool1d(sequences, 2, {.ceil_mode = ceil}); });
  differ("max_pool2d kernel", 3, 4, [&](int size) { return max_pool2d(images, size, {.stride = 4}); });
  differ("max_pool2d stride", 4, 5, [&](int stride) { return max_pool2d(images, 2, {.stride = stride}); });
  differ("max_pool2d padding", Size2d(0, 1), Size2d(1, 0),
         [&](Size2d padding) { return max_pool2d(images, 3, {.padding = padding}); });
  differ("max_pool2d dilation", 1, 2,
         [&](int dilation) { return max_pool2d(images, 2, {.stride = 4, .dilation = dilation}); });
  differ("max_pool2d ceil_mode", false, true, [&](bool ceil) { return max_pool2d(images, 2, {.ceil_mode = ceil}); });
  differ("avg_pool1d kernel", 3, 4, [&](int size) { return avg_pool1d(sequences, size, {.stride = 4}); });
  differ("avg_pool1d stride", 4, 5, [&](int stride) { return avg_pool1d(sequences, 2, {.stride = stride}); });
  differ("avg_pool1d padding", 0, 1,
         [&](int padding) { return avg_pool1d(sequences, 3, {.stride = 3, .padding = padding, .ceil_mode = true}); });
  differ("avg_pool1d ceil_mode", false, true, [&](bool ceil) { return avg_pool1d(sequences, 2, {.ceil_mode = ceil}); });
  differ("avg_pool1d count_include_pad", true, false,
         [&](bool count) { return avg_pool1d(sequences, 3, {.padding = 1, .count_include_pad = count}); });
  differ("avg_pool2d kernel", 3, 4, [&](int size) { return avg_pool2d(images, size, {.stride = 4}); });
  differ("avg_pool2d stride", 4, 5, [&](int stride) { return avg_pool2d(images, 2, {.stride = stride}); });
  differ("avg_pool2d padding", Size2d(0, 1), Size2d(1, 0),
         [&](Size2d padding) { return avg_pool2d(images, 3, {.padding = padding}); });
  differ("avg_pool2d ceil_mode", false, true, [&](bool ceil) { return avg_pool2d(images, 2, {.ceil_mode = ceil}); });
  differ("avg_pool2d count_include_pad", true, false,
         [&](bool count) { return avg_pool2d(images, 3, {.padding = 1, .count_include_pad = count}); });
  differ("adaptive_max_pool1d", 2, 3, [&](int size) { return adaptive_max_pool1d(sequences, size); });
  differ("adaptive_max_pool2d", Size2d(2, 3), Size2d(3, 2),
         [&](Size2d size) { return adaptive_max_pool2d(images, size); });
  differ("adaptive_avg_pool1d", 2, 3, [&](int size) { return adaptive_avg_pool1d(sequences, size); });
  differ("adaptive_avg_pool2d", Size2d(2, 3), Size2d(3, 2),
         [&](Size2d size) { return adaptive_avg_pool2d(images, size); });
}

TEST_CASE("losses that differ in a setting look different") {
  const Tensor &x = square_matrix, &y = positive, signs = tensor({1, -1, 1, -1});
  const auto by_reduction = [](const std::string& what, const auto& f) {
    constexpr Reduction all[] = {Reduction::mean, Reduction::sum, Reduction::none};
    for (int i = 0; i < 3; ++i) differ(cat(what, " reduction"), all[i], all[(i + 1) % 3], f);
  };
  by_reduction("mse_loss", [&](Reduction r) { return mse_loss(x, y, {.reduction = r}); });
  by_reduction("l1_loss", [&](Reduction r) { return l1_loss(x, y, {.reduction = r}); });
  by_reduction("smooth_l1_loss", [&](Reduction r) { return smooth_l1_loss(x, y, {.reduction = r}); });
  differ("smooth_l1_loss beta", 1, 2, [&](double beta) { return smooth_l1_loss(x, y, {.beta = beta}); });
  by_reduction("huber_loss", [&](Reduction r) { return huber_loss(x, y, {.reduction = r}); });
  differ("huber_loss delta", 1, 2, [&](double delta) { return huber_loss(x, y, {.delta = delta}); });
  by_reduction("margin_ranking_loss", [&](Reduction r) { return margin_ranking_loss(x, y, signs, {.reduction = r}); });
  differ("margin_ranking_loss margin", 0, 1,
         [&](double margin) { return margin_ranking_loss(x, y, signs, {.margin = margin}); });
  by_reduction("hinge_embedding_loss", [&](Reduction r) { return hinge_embedding_loss(x, signs, {.reduction = r}); });
  differ("hinge_embedding_loss margin", 1, 2,
         [&](double margin) { return hinge_embedding_loss(x, signs, {.margin = margin}); });
  by_reduction("cosine_embedding_loss",
               [&](Reduction r) { return cosine_embedding_loss(x, y, signs, {.reduction = r}); });
  differ("cosine_embedding_loss margin", 0, 0.5,
         [&](double margin) { return cosine_embedding_loss(x, y, signs, {.margin = margin}); });
  const auto triplet = [&](const TripletMarginLossOptions& options) {
    return triplet_margin_loss(x, y, cube[{0}], options);
  };
  by_reduction("triplet_margin_loss", [&](Reduction r) { return triplet({.reduction = r}); });
  differ("triplet_margin_loss margin", 1, 2, [&](double margin) { return triplet({.margin = margin}); });
  differ("triplet_margin_loss p", 2, 3, [&](double p) { return triplet({.p = p}); });
  differ("triplet_margin_loss eps", 1e-6, 1e-3, [&](double eps) { return triplet({.eps = eps}); });
  differ("triplet_margin_loss swap", false, true, [&](bool swap) { return triplet({.swap = swap}); });
  by_reduction("multi_margin_loss", [&](Reduction r) { return multi_margin_loss(x, ids, {.reduction = r}); });
  differ("multi_margin_loss p", 1, 2, [&](int p) { return multi_margin_loss(x, ids, {.p = p}); });
  differ("multi_margin_loss margin", 1, 2,
         [&](double margin) { return multi_margin_loss(x, ids, {.margin = margin}); });
  by_reduction("multilabel_margin_loss",
               [&](Reduction r) { return multilabel_margin_loss(list, ids, {.reduction = r}); });

  const std::optional<std::int64_t> one = 1, two = 2;
  by_reduction("cross_entropy", [&](Reduction r) { return cross_entropy(x, ids, {.reduction = r}); });
  by_reduction("cross_entropy of weighted classes",
               [&](Reduction r) { return cross_entropy(x, ids, {.weight = list, .reduction = r}); });
  differ("cross_entropy ignore_index", one, two, [&](auto id) { return cross_entropy(x, ids, {.ignore_index = id}); });
  differ("cross_entropy label_smoothing", 0.1, 0.2,
         [&](double s) { return cross_entropy(x, ids, {.label_smoothing = s}); });
  differ("cross_entropy label_smoothing of probabilities", 0.1, 0.2,
         [&](double s) { return cross_entropy(x, y, {.label_smoothing = s}); });
  by_reduction("cross_entropy of probabilities", [&](Reduction r) { return cross_entropy(x, y, {.reduction = r}); });
  by_reduction("nll_loss", [&](Reduction r) { return nll_loss(x, ids, {.reduction = r}); });
  differ_in_data("nll_loss ignore_index", one, two, [&](auto id) { return nll_loss(x, ids, {.ignore_index = id}); });
  by_reduction("kl_div", [&](Reduction r) { return kl_div(x, y, {.reduction = r}); });
  differ("kl_div batchmean", KlDivReduction(batchmean), Reduction::mean,
         [&](KlDivReduction r) { return kl_div(x, y, {.reduction = r}); });
  differ("kl_div log_target", false, true, [&](bool log) { return kl_div(x, y, {.log_target = log}); });
  by_reduction("binary_cross_entropy",
               [&](Reduction r) { return binary_cross_entropy(sigmoid(x), y, {.reduction = r}); });
  by_reduction("binary_cross_entropy_with_logits",
               [&](Reduction r) { return binary_cross_entropy_with_logits(x, y, {.reduction = r}); });
  by_reduction("gaussian_nll_loss", [&](Reduction r) { return gaussian_nll_loss(x, y, y, {.reduction = r}); });
  differ("gaussian_nll_loss full", false, true, [&](bool full) { return gaussian_nll_loss(x, y, y, {.full = full}); });
  differ("gaussian_nll_loss eps", 1e-6, 1e-3, [&](double eps) { return gaussian_nll_loss(x, y, y, {.eps = eps}); });
  by_reduction("poisson_nll_loss", [&](Reduction r) { return poisson_nll_loss(x, y, {.reduction = r}); });
  differ("poisson_nll_loss log_input", true, false,
         [&](bool log) { return poisson_nll_loss(y, y, {.log_input = log}); });
  differ("poisson_nll_loss full", false, true, [&](bool full) { return poisson_nll_loss(x, y, {.full = full}); });
  differ("poisson_nll_loss eps", 1e-8, 1e-3,
         [&](double eps) { return poisson_nll_loss(y, y, {.log_input = false, .eps = eps}); });

  const Index texts({1, 2}, {1, 2}), steps({1}, {4}), letters({1}, {2});
  const auto aligned = [&](const CtcLossOptions& options) {
    return ctc_loss(cube[{_, slice(0, 1)}], texts, steps, letters, options);
  };
  by_reduction("ctc_loss", [&](Reduction r) { return aligned({.reduction = r}); });
  differ_in_data("ctc_loss blank", 0, 3, [&](int blank) { return aligned({.blank = blank}); });
  differ("ctc_loss zero_infinity", false, true, [&](bool zero) { return aligned({.zero_infinity = zero}); });
  differ_in_data("ctc_loss targets", texts, Index({1, 2}, {2, 1}), [&](Index all) {
    return ctc_loss(cube[{_, slice(0, 1)}], all, steps, letters);
  });
  differ_in_data("ctc_loss input_lengths", steps, Index({1}, {3}), [&](Index all) {
    return ctc_loss(cube[{_, slice(0, 1)}], texts, all, letters);
  });
  differ_in_data("ctc_loss target_lengths", letters, Index({1}, {1}), [&](Index all) {
    return ctc_loss(cube[{_, slice(0, 1)}], texts, steps, all);
  });
}

}  // namespace
}  // namespace xgrad::testing
