// Tests of attributes: two calls of an operation that differ in one setting alone, and not in the shape of the result, look
// different to an observer and in a diagram. Operations whose results are an Index or a Mask, and those that make constants, are
// in no graph.
#include <xgrad/core/diagram/render/export.h>
#include <xgrad/core/graph/observe.h>
#include <xgrad/ops/ops.h>

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "support/catalogue.h"
#include "support/check.h"

namespace xgrad::testing {
namespace {

using linalg::cholesky, linalg::qr, linalg::solve_triangular, linalg::svd;

// All that an observer sees of the operations that run, but for the numbers of tensors with axes.
struct Trace : Observer {
  std::string text;

  void operation(const OperationRun& run) override {
    append(text, str('\n', run.op, ' ', run.output.shape()));
    for (const Tensor* input : run.inputs) {
      if (input->rank() == 0 && !input->requires_grad()) append(text, str(" (", input->item(), ')'));
    }
    for (const Attribute& attribute : run.attributes) {
      append(text, str(", ", attribute.name));
      std::visit([this](const auto& value) { append(text, ' '), show(value); }, attribute.value);
    }
  }

 private:
  template <class T>
  void show(const T& value) {
    append(text, str(value));
  }
  template <class T>
  void show(const BasicArray<T>& value) {
    append(text, str(value.shape()));
    for (const T& element : value) append(text, str(' ', element));
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

// The calls f(one) and f(other) look different to an observer. Those whose setting only decides on an Index or a Mask, of which a
// diagram has the shape, may be drawn alike.
template <class T, class U = T, class F>
void differ_in_data(const std::string& what, const T& one, const U& other, const F& f) {
  const std::string seen = traced([&] { return f(one); });
  const bool differs = seen != traced([&] { return f(other); });
  CHECK_MESSAGE(differs, what, " looks the same:", seen);
}
// And in a diagram.
template <class T, class U = T, class F>
void differ(const std::string& what, const T& one, const U& other, const F& f) {
  differ_in_data(what, one, other, f);
  const bool differs = drawn([&] { return f(one); }) != drawn([&] { return f(other); });
  CHECK_MESSAGE(differs, what, " is drawn in the same way");
}

// Rows of the tables below: the call whose setting `value` is the one, and the other.
#define DIFFER_IN_DATA(what, one, other, ...) \
  differ_in_data(what, one, other, [&](const auto& value) { return __VA_ARGS__; })
#define DIFFER(what, one, other, ...) differ(what, one, other, [&](const auto& value) { return __VA_ARGS__; })

const Tensor list = variable(normal({4}, 1)), square_matrix = variable(normal({4, 4}, 2)),
             cube = variable(normal({4, 4, 4}, 3)), images = variable(normal({2, 4, 8, 8}, 4)),
             positive = variable(uniform({4, 4}, 1, 2, 5));
const RandomKey first_key{1, 1}, other_key{1, 2};
const Mask upper = triu(Mask({4, 4}, true)), lower = tril(Mask({4, 4}, true));
const Index ids({4}, {0, 1, 2, 1}), other_ids({4}, {2, 1, 0, 3});

TEST_CASE("calls of elementwise operations that differ in an attribute look different") {
  const Tensor& x = square_matrix;
  DIFFER("leaky_relu", 0.2, 0.3, leaky_relu(x, {.negative_slope = value}));
  DIFFER("gelu", Gelu::erf, Gelu::tanh, gelu(x, value));
  DIFFER("clamp max", 1.0, 0.0, clamp(x, {.max = value}));
  DIFFER("clamp side", true, false, clamp(x, value ? Bounds{.min = 1} : Bounds{.max = 1}));
  DIFFER("nan_to_num posinf", 0.0, 1.0, nan_to_num(x, {.posinf = value}));
  DIFFER("nan_to_num neginf", 0.0, 1.0, nan_to_num(x, {.neginf = value}));
  DIFFER("pow", 2.0, 3.0, pow(x, value));
  DIFFER_IN_DATA("where", upper, lower, where(value, x, cube));
}

TEST_CASE("calls that arrange elements and differ in an attribute look different") {
  const Tensor& x = square_matrix;
  differ("permute", Axes{0, 2, 1}, {2, 1, 0}, [&](Axes axes) { return permute(cube, axes); });
  DIFFER("transpose", 1, 2, transpose(cube, 0, value));
  DIFFER("movedim from", 1, 2, movedim(cube, value, 0));
  DIFFER("movedim to", 1, 2, movedim(cube, 0, value));
  differ("flip", Axes{0}, {1}, [&](Axes axes) { return flip(x, axes); });
  DIFFER("roll shift", 1, 2, roll(x, value, 0));
  DIFFER("roll axis", 0, 1, roll(x, 1, value));
  DIFFER("meshgrid", MeshIndexing::ij, MeshIndexing::xy, meshgrid({list, list}, {.indexing = value})[0]);
  DIFFER("slice start", 0, 1, slice(x, {slice(value, value + 2)}));
  DIFFER("slice position", 0, 1, x[{value}]);
  DIFFER("slice step", 1, -1, x[{slice(none, none, value)}]);
  DIFFER("slice axis", false, true, value ? x[{_, 1}] : x[{1}]);
  DIFFER("place", 0, 1, place(list, {value}, {4, 4}));
  DIFFER("narrow axis", 0, 1, narrow(cube, value, 0, 4));
  DIFFER("narrow start", 0, 1, narrow(x, 0, value, 2));
  DIFFER("split axis", 0, 1, split(x, 4, value)[0]);
  DIFFER("unbind axis", 0, 1, unbind(x, value)[1]);
  DIFFER("chunk axis", 0, 1, chunk(cube, 1, value)[0]);
  DIFFER_IN_DATA("pad mode", PadMode::reflect, PadMode::circular, pad(x, {{1, 0}, {0, 0}}, value));
  DIFFER_IN_DATA("pad sides of a mode", 0, 1, pad(x, {{value, 2 - value}, {0, 0}}, PadMode::replicate));
}

TEST_CASE("calls that choose elements and differ in an attribute look different") {
  const Tensor& x = square_matrix;
  DIFFER_IN_DATA("embedding ids", ids, other_ids, embedding(x, value));
  DIFFER("index_select axis", 0, 1, index_select(x, value, ids));
  DIFFER("index_add axis", 0, 1, index_add(x, value, ids, x));
  const Index columns = broadcast_to(ids, {4, 4});
  DIFFER("gather axis", 0, 1, gather(x, value, columns));
  DIFFER("scatter axis", 0, 1, scatter(x, value, columns, x));
  DIFFER("scatter value", 0.0, 1.0, scatter(x, 0, columns, value));
  DIFFER("index_put part", 0, 1, index_put(x, {_, value}, list));
  DIFFER_IN_DATA("index_put indices", ids, other_ids, index_put(x, {value, ids}, list));
  DIFFER("index_put accumulate", false, true, index_put(x, {ids, ids}, list, {.accumulate = value}));
  DIFFER_IN_DATA("several indices", ids, other_ids, x[{value, ids}]);
  DIFFER("scatter_add axis", 0, 1, scatter_add(x, value, columns, x));
  DIFFER("take_along_dim axis", 0, 1, take_along_dim(x, columns, value));
  DIFFER_IN_DATA("masked_select", upper, lower, masked_select(x, value));
  DIFFER_IN_DATA("masked_fill mask", upper, lower, masked_fill(x, value, 0));
  DIFFER("masked_fill value", 0.0, 1.0, masked_fill(x, upper, value));
}

// The operations that a call consists of, with their attributes.
std::string recorded(const std::function<Tensor()>& f) {
  struct Names : Observer {
    std::string text;
    void operation(const OperationRun& run) override {
      append(text, str(text.empty() ? "" : "; ", run.op));
      for (const Attribute& attribute : run.attributes) {
        append(text, str(' ', attribute.name));
        std::visit(
            [this]<class T>(const T& value) {
              if constexpr (!std::same_as<T, Index> && !std::same_as<T, Mask>) append(text, str(' ', value));
            },
            attribute.value);
      }
    }
  } names;
  f();
  return names.text;
}

TEST_CASE("what chooses elements by their numbers is recorded by its name and attributes, not by positions") {
  const Tensor& x = square_matrix;
  const Tensor scalar = variable(2);
  const auto check = [](const char* expected, const std::function<Tensor()>& f) { CHECK(recorded(f) == expected); };
  check("sort axis 1", [&] { return sort(x).values; });
  check("sort axis 0 descending true", [&] { return sort(x, 0, {.descending = true}).values; });
  check("sort axis 0", [&] { return sort(scalar).values; });
  check("topk axis 1 k 2", [&] { return topk(x, 2).values; });
  check("topk axis 0 k 2 largest false", [&] { return topk(x, 2, 0, {.largest = false}).values; });
  for (const bool keepdim : {false, true}) {
    check("max axis 0 with_indices true", [&] { return max(x, 0, {.keepdim = keepdim}).values; });
    check("min axis 1 with_indices true", [&] { return min(x, 1, {.keepdim = keepdim}).values; });
    check("median axis 1 with_indices true", [&] { return median(x, 1, {.keepdim = keepdim}).values; });
    check("kthvalue axis 0 k 3", [&] { return kthvalue(x, 3, 0, {.keepdim = keepdim}).values; });
    check("quantile q 0.5 axis 0", [&] { return quantile(x, 0.5, 0, {.keepdim = keepdim}); });
  }
  check("max axis 0 with_indices true", [&] { return max(scalar, 0).values; });
  check("quantile q 0.25", [&] { return quantile(x, 0.25); });
  check("masked_select mask", [&] { return masked_select(x, x > 0); });
  check("masked_select mask", [&] { return x[x > 0]; });
  check("repeat_interleave axis 1 counts", [&] { return repeat_interleave(x, ids, 1); });

  check("svd output u; svd output vh; svd output s", [&] { return svd(x).s; });
  check("qr output q; qr output r", [&] { return qr(x).q; });
  check("eigh output eigenvectors; eigh output eigenvalues", [&] { return linalg::eigh(x).eigenvalues; });
}

TEST_CASE("attributes at their defaults are not recorded, all others are") {
  const Tensor &x = square_matrix, &y = positive;
  // Of the last of the operations that a call consists of.
  const auto check = [](const std::string& expected, const std::function<Tensor()>& f) {
    const std::string all = recorded(f);
    const std::size_t last = all.rfind("; ");
    CHECK(all.substr(last == all.npos ? 0 : last + 2) == expected);
  };
  const Tensor kernels = variable(normal({4, 4, 3, 3})), narrow_kernels = variable(normal({4, 2, 3, 3}));
  const auto convolved = [&](const Conv2dFuncOptions& options) { return conv2d(images, kernels, {}, options); };
  check("conv2d", [&] { return convolved({}); });
  check("conv2d stride [1, 2]", [&] { return convolved({.stride = {1, 2}}); });
  check("conv2d stride [2, 1]", [&] { return convolved({.stride = {2, 1}}); });
  check("conv2d padding [1, 0]", [&] { return convolved({.padding = {1, 0}}); });
  check("conv2d padding [0, 1]", [&] { return convolved({.padding = {0, 1}}); });
  check("conv2d dilation [1, 2]", [&] { return convolved({.dilation = {1, 2}}); });
  check("conv2d dilation [2, 1]", [&] { return convolved({.dilation = {2, 1}}); });
  check("conv2d groups 2", [&] { return conv2d(images, narrow_kernels, {}, {.groups = 2}); });
  const auto transposed = [&](const ConvTranspose2dFuncOptions& options) {
    return conv_transpose2d(images, kernels, {}, options);
  };
  check("conv_transpose2d", [&] { return transposed({}); });
  check("conv_transpose2d stride [2, 2] output_padding [1, 0]",
        [&] { return transposed({.stride = 2, .output_padding = {1, 0}}); });
  check("conv_transpose2d stride [2, 2] output_padding [0, 1]",
        [&] { return transposed({.stride = 2, .output_padding = {0, 1}}); });
  check("conv_transpose2d groups 2", [&] { return transposed({.groups = 2}); });

  const auto max_pooled = [&](const MaxPool2dOptions& options) { return max_pool2d(images, 3, options); };
  check("max_pool2d kernel [3, 3]", [&] { return max_pooled({}); });
  check("max_pool2d kernel [3, 3]", [&] { return max_pooled({.stride = 3}); });
  check("max_pool2d kernel [3, 3] stride [3, 2]", [&] { return max_pooled({.stride = Size2d(3, 2)}); });
  check("max_pool2d kernel [3, 3] padding [1, 0]", [&] { return max_pooled({.padding = {1, 0}}); });
  check("max_pool2d kernel [3, 3] padding [0, 1]", [&] { return max_pooled({.padding = {0, 1}}); });
  check("max_pool2d kernel [3, 3] ceil_mode true", [&] { return max_pooled({.ceil_mode = true}); });
  check("max_pool1d kernel [3] stride [2] padding [1]",
        [&] { return max_pool1d(images[{_, _, 0}], 3, {.stride = 2, .padding = 1}); });
  check("avg_pool2d kernel [2, 2]", [&] { return avg_pool2d(images, 2); });
  check("avg_pool2d kernel [2, 2] count_include_pad false",
        [&] { return avg_pool2d(images, 2, {.count_include_pad = false}); });
  check("interpolate mode bilinear",
        [&] { return interpolate(images, {.size = 4, .mode = Interpolation::bilinear}); });
  check("interpolate mode bilinear align_corners true", [&] {
    return interpolate(images, {.size = 4, .mode = Interpolation::bilinear, .align_corners = AlignCorners::yes});
  });
  check("interpolate mode bilinear antialias true",
        [&] { return interpolate(images, {.size = 4, .mode = Interpolation::bilinear, .antialias = true}); });

  check("rotary", [&] { return rotary(cube); });
  check("rotary heads 2", [&] { return rotary(cube, {.heads = 2}); });
  check("rotary first 1", [&] { return rotary(cube, {.first = 1}); });
  check("rotary interleaved true", [&] { return rotary(cube, {.layout = RotaryLayout::interleaved}); });
  check("rotary theta 10001", [&] { return rotary(cube, {.theta = 10001}); });
  const auto attend = [&](AttentionOptions options) {
    options.scale = 1;
    return multi_head_attention(cube, cube, cube, 2, options);
  };
  check("attention heads 2 scale 1", [&] { return attend({}); });
  check("attention heads 2 causal true scale 1", [&] { return attend({.mask = {.causal = true}}); });
  check("attention heads 2 dropout 1 key [1, 1] scale 1", [&] { return attend({.dropout = 1, .key = first_key}); });
  const Tensor keys = narrow(cube, 2, 0, 2);
  check("attention heads 4 queries_per_key 2 scale 1",
        [&] { return multi_head_attention(cube, keys, keys, 4, {.kv_heads = 2}); });

  check("pad before [1, 0] after [0, 0]", [&] { return pad(x, {{1, 0}, {0, 0}}); });
  check("pad before [1, 0] after [0, 0] value 1", [&] { return pad(x, {{1, 0}, {0, 0}}, 1); });
  for (const int offset : {0, 1}) {
    const char* const more = offset == 0 ? "" : " offset 1";
    check(str("tril", more), [&] { return tril(x, offset); });
    check(str("triu", more), [&] { return triu(x, offset); });
  }
  check("embedding ids", [&] { return embedding(x, ids); });
  check("embedding ids padding_idx 0", [&] { return embedding(x, ids, {.padding_idx = 0}); });
  check("index_select axis 1 index", [&] { return index_select(x, 1, ids); });
  check("add_rows axis 1 index", [&] { return grad(sum(index_select(x, 1, ids)), {x})[0]; });
  check("matmul", [&] { return matmul(x, x); });
  check("vector_norm", [&] { return linalg::vector_norm(x); });
  check("vector_norm ord 3", [&] { return linalg::vector_norm(x, 3); });
  check("solve_triangular", [&] { return solve_triangular(positive, x); });
  check("cumsum axis 1", [&] { return cumsum(x, 1); });
  check("quantile q 0.5", [&] { return quantile(x, 0.5); });
  check("sum", [&] { return sum(x); });
  check("sum", [&] { return sum(x, {0, 1}); });
  check("sum axis [0]", [&] { return sum(x, 0); });
  check("var", [&] { return var(x); });
  check("var correction 2", [&] { return var(x, {}, {.correction = 2}); });
  check("stddev", [&] { return stddev(x); });
  check("stddev correction 2", [&] { return stddev(x, {}, {.correction = 2}); });

  constexpr Reduction each = Reduction::none;
  check("smooth_l1", [&] { return smooth_l1_loss(x, y, {.reduction = each}); });
  check("smooth_l1 beta 2", [&] { return smooth_l1_loss(x, y, {.beta = 2, .reduction = each}); });
  check("huber", [&] { return huber_loss(x, y, {.reduction = each}); });
  check("huber delta 2", [&] { return huber_loss(x, y, {.delta = 2, .reduction = each}); });
  check("cross_entropy targets", [&] { return cross_entropy(x, ids); });
  check("cross_entropy targets label_smoothing 1", [&] { return cross_entropy(x, ids, {.label_smoothing = 1}); });
  check("gaussian_nll", [&] { return gaussian_nll_loss(x, y, y, {.reduction = each}); });

  check("elu", [&] { return elu(x); });
  check("elu alpha 2", [&] { return elu(x, 2); });
  check("celu", [&] { return celu(x); });
  check("celu alpha 2", [&] { return celu(x, 2); });
  check("leaky_relu", [&] { return leaky_relu(x); });
  check("hardshrink", [&] { return hardshrink(x); });
  check("hardshrink lambda 1.5", [&] { return hardshrink(x, 1.5); });
  check("softshrink", [&] { return softshrink(x); });
  check("softshrink lambda 1.5", [&] { return softshrink(x, 1.5); });
  check("hardtanh", [&] { return hardtanh(x); });
  check("hardtanh min_val -2", [&] { return hardtanh(x, {.min_val = -2}); });
  check("hardtanh max_val 2", [&] { return hardtanh(x, {.max_val = 2}); });
  check("nan_to_num", [&] { return nan_to_num(x); });
  check("nan_to_num nan 1", [&] { return nan_to_num(x, {.nan = 1}); });
  check("clamp min 0", [&] { return clamp(x, {.min = 0}); });
}

TEST_CASE("reductions that differ in an attribute look different") {
  const Tensor& x = square_matrix;
  DIFFER("mean", 0, 1, mean(x, value));
  DIFFER("var axis", 0, 1, var(x, value));
  DIFFER("stddev axis", 0, 1, stddev(x, value));
  DIFFER("var_mean axis", 0, 1, var_mean(x, value).mean);
  DIFFER("var_mean correction", 0.0, 1.0, var_mean(x, {}, {.correction = value}).var);
  DIFFER("max", 0, 1, max(x, Axes{value}));
  DIFFER("min", 0, 1, min(x, Axes{value}));
  DIFFER("prod", 0, 1, prod(x, value));
  DIFFER("logsumexp", 0, 1, logsumexp(x, value));
  DIFFER("cumprod", 0, 1, cumprod(x, value));
}

TEST_CASE("products that differ in an attribute look different") {
  const Tensor& x = square_matrix;
  DIFFER("matmul transpose_a", false, true, matmul(x, x, {.transpose_a = value}));
  DIFFER("matmul transpose_b", false, true, matmul(x, x, {.transpose_b = value}));
  differ("einsum", "ij,jk->ik", "ij,kj->ik", [&](const char* formula) { return einsum(formula, {x, x}); });
  DIFFER("tensordot axes_a", 0, 1, tensordot(x, x, Axes{value}, Axes{0}));
  DIFFER("tensordot axes_b", 0, 1, tensordot(x, x, Axes{0}, Axes{value}));

  const Tensor triangle = tril(positive) + 4 * eye(4), definite = matmul(triangle, triangle, {.transpose_b = true});
  DIFFER("solve_triangular upper", false, true, solve_triangular(definite, x, {.upper = value}));
  DIFFER("cholesky", false, true, cholesky(definite, {.upper = value}));
  DIFFER("vector_norm axis", 0, 1, vector_norm(x, 2, value));
  for (const double ord : std::initializer_list<double>{-infinity, -1., 0., 1., 3., infinity}) {
    DIFFER("vector_norm ord", 2.0, ord, vector_norm(x, value));
  }
  DIFFER("diagonal offset", -1, 1, diagonal(x, value));
  DIFFER("diag_embed offset", -1, 1, diag_embed(list, value));
  DIFFER("diag", -1, 1, diag(list, value));
  DIFFER("normalize p", 2.0, 3.0, normalize(x, value));
  DIFFER("normalize axis", 0, 1, normalize(x, 2, value));
  DIFFER("normalize eps", 1e-12, 1e-6, normalize(x, 2, 1, {.eps = value}));
  DIFFER("cosine_similarity axis", 0, 1, cosine_similarity(x, x, value));
  DIFFER("cosine_similarity eps", 1e-12, 1e-6, cosine_similarity(x, x, 1, {.eps = value}));
  DIFFER("pairwise_distance p", 2.0, 3.0, pairwise_distance(x, x, {.p = value}));
  DIFFER("pairwise_distance eps", 1e-6, 1e-3, pairwise_distance(x, x, {.eps = value}));
  DIFFER("linear_attention heads", 1, 2, linear_attention(cube, cube, cube, value));
  DIFFER("linear_attention causal", false, true, linear_attention(cube, cube, cube, 1, {.causal = value}));
  DIFFER_IN_DATA("linear_attention lengths", ids, other_ids, linear_attention(cube, cube, cube, 1, {.lengths = value}));
}

TEST_CASE("attentions that differ in an attribute look different") {
  const Tensor& x = cube;
  const auto attend = [&](const AttentionOptions& options) { return multi_head_attention(x, x, x, 2, options); };
  const auto with_mask = [&](const AttentionMask& mask) { return attend({.mask = mask}); };
  DIFFER("band before", 0, 1, with_mask({.band = AttentionBand{value, 1}}));
  DIFFER("band after", 0, 1, with_mask({.band = AttentionBand{1, value}}));
  DIFFER_IN_DATA("lengths", ids, other_ids, with_mask({.lengths = value}));
  DIFFER_IN_DATA("masked", upper, lower, with_mask({.masked = value}));
  DIFFER("scale", 1.0, 2.0, attend({.scale = value}));
  DIFFER("one head, scale", 1.0, 2.0, scaled_dot_product_attention(x, x, x, {.scale = value}));
  DIFFER("packed heads", 1, 2, multi_head_attention(concat({x, x, x}, 2), value));
  DIFFER("weights, scale", 1.0, 2.0, attention_weights(x, x, 1, {.scale = value}));
  DIFFER_IN_DATA("weights, causal", false, true, attention_weights(x, x, 1, {.mask = {.causal = value}}));
  const auto scaled = [&](RotaryScaling scaling) { return rotary(x, {.scaling = scaling}); };
  DIFFER("rotary scaling", false, true, value ? scaled({}) : rotary(x));
  DIFFER("rotary factor", 8.0, 4.0, scaled({.factor = value}));
  DIFFER("rotary low", 1.0, 2.0, scaled({.low = value}));
  DIFFER("rotary high", 4.0, 8.0, scaled({.high = value}));
  DIFFER("rotary context", 8192, 4096, scaled({.context = value}));
}

TEST_CASE("layers that differ in an attribute look different") {
  const Tensor& x = square_matrix;
  DIFFER("softmax", 0, 1, softmax(x, value));
  DIFFER("log_softmax", 0, 1, log_softmax(x, value));
  DIFFER_IN_DATA("masked_softmax lengths", ids, other_ids, masked_softmax(x, value));
  DIFFER_IN_DATA("masked_softmax masked", upper, lower, masked_softmax(x, value));
  DIFFER("layer_norm eps", 1e-5, 1e-3, layer_norm(x, {}, {}, {.eps = value}));
  differ("layer_norm normalized", Shape{4}, {4, 4},
         [&](Shape sizes) { return layer_norm(cube, {}, {}, {.normalized = sizes}); });
  DIFFER("rms_norm eps", 1e-5, 1e-3, rms_norm(x, {}, {.eps = value}));
  differ("rms_norm normalized", Shape{4}, {4, 4},
         [&](Shape sizes) { return rms_norm(cube, {}, {.normalized = sizes}); });
  DIFFER("batch_norm", 1e-5, 1e-3, batch_norm(x, {}, {}, {.eps = value}).y);
  DIFFER("dropout p", 0.25, 0.5, dropout(x, value, first_key));
  DIFFER("dropout all", 1.0, 0.5, dropout(x, value, first_key));
  DIFFER("dropout key", first_key, other_key, dropout(x, 0.5, value));
  differ("dropout seed", first_key, RandomKey{2, 1}, [&](RandomKey key) { return dropout(x, 0.5, key); });
  DIFFER("dropout2d p", 0.25, 0.5, dropout2d(images, value, first_key));
  DIFFER("dropout2d key", first_key, other_key, dropout2d(images, 0.5, value));

  const Tensor steps = variable(normal({4, 3, 4})), gates = variable(normal({4, 3, 16})),
               three = gates[{_, _, slice(0, 12)}];
  const Tensor w = variable(normal({16, 4})), b = variable(normal({12}));
  const Index lengths({4}, {1, 2, 3, 2}), other_lengths({4}, {3, 2, 1, 2});
  DIFFER("rnn f", Squash::tanh, Squash::relu, rnn(steps, x, x, value).output);
  const auto recurrences = [&](const std::string& what, const auto& f) {
    DIFFER_IN_DATA(str(what, " lengths"), lengths, other_lengths, f({.lengths = value}));
    DIFFER(str(what, " reverse"), false, true, f({.reverse = value}));
  };
  recurrences("rnn", [&](const RecurrenceOptions& options) { return rnn(steps, x, x, Squash::tanh, options).output; });
  recurrences("lstm", [&](const RecurrenceOptions& options) { return lstm(gates, w, x, x, options).output; });
  recurrences("gru",
              [&](const RecurrenceOptions& options) { return gru(three, w[{slice(0, 12)}], b, x, options).output; });
}

TEST_CASE("convolutions and poolings that differ in an attribute look different") {
  const Tensor kernels = variable(normal({4, 4, 3, 3}));
  DIFFER("conv2d same padding", true, false,
         conv2d(images, kernels, {}, {.padding = value ? Padding2d(same_padding) : 0}));
  DIFFER("conv_transpose2d output_padding and padding", 0, 1,
         conv_transpose2d(images, kernels, {}, {.stride = 3, .padding = 1 + value, .output_padding = 2 * value}));
  DIFFER("unfold kernel", Size2d(1, 3), Size2d(3, 1),
         unfold(images, value, {.padding = {value.height - 1, value.width - 1}}));
  DIFFER("unfold stride", Size2d(1, 2), Size2d(2, 1), unfold(images, 2, {.stride = value}));
  DIFFER("unfold padding", Size2d(1, 0), Size2d(0, 1), unfold(images, 2, {.padding = value}));
  DIFFER("unfold dilation", Size2d(1, 2), Size2d(2, 1), unfold(images, 2, {.dilation = value}));
  const auto folded = [&](Size2d size, Size2d kernel, const UnfoldOptions& options) {
    const Tensor columns = unfold(variable(normal({1, 1, size.height, size.width})), kernel, options);
    return fold(variable(columns.value()), size, kernel, options);
  };
  DIFFER("fold kernel", Size2d(1, 3), Size2d(3, 1), folded(4, value, {}));
  DIFFER("fold stride", Size2d(1, 2), Size2d(2, 1), folded(4, 2, {.stride = value}));
  DIFFER("fold padding", Size2d(1, 0), Size2d(0, 1), folded(4, 2, {.padding = value}));
  DIFFER("fold dilation", Size2d(1, 2), Size2d(2, 1), folded(4, 2, {.dilation = value}));
  DIFFER("interpolate scale_factor", 1.4, 1.45, interpolate(images, {.scale_factor = value}));
  DIFFER("interpolate factor or size", false, true,
         value ? interpolate(images, {.size = 11}) : interpolate(images, {.scale_factor = 1.4}));
  DIFFER("avg_pool2d kernel", 3, 4, avg_pool2d(images, value, {.stride = 4}));
  DIFFER("avg_pool2d stride", 4, 5, avg_pool2d(images, 2, {.stride = value}));
  DIFFER("avg_pool2d padding", Size2d(0, 1), Size2d(1, 0), avg_pool2d(images, 3, {.padding = value}));
  DIFFER("avg_pool2d ceil_mode", false, true, avg_pool2d(images, 2, {.ceil_mode = value}));
}

TEST_CASE("losses that differ in an attribute look different") {
  // The mean, the sum, and none.
  std::map<std::string, Call> calls;
  for (const Call& call : loss_calls({4, 4})) calls[call.name] = call;
  for (const auto& [name, mean] : calls) {
    if (name.ends_with(", sum") || name.ends_with(", none")) continue;
    const Tensors in = mean.leaves();
    const Call &sum = calls.at(name + ", sum"), &none = calls.at(name + ", none");
    for (const auto& pair : {std::pair{&mean, &sum}, {&sum, &none}, {&none, &mean}}) {
      differ(str(pair.first->name, " and ", pair.second->name), *pair.first, *pair.second,
             [&](const Call& call) { return call.run(in); });
    }
  }
  const Tensor &x = square_matrix, &y = positive;
  const auto triplet = [&](const TripletMarginLossOptions& options) {
    return triplet_margin_loss(x, y, cube[{0}], options);
  };
  DIFFER("triplet_margin_loss margin", 1.0, 2.0, triplet({.margin = value}));
  DIFFER("triplet_margin_loss p", 2.0, 3.0, triplet({.p = value}));
  DIFFER("triplet_margin_loss eps", 1e-6, 1e-3, triplet({.eps = value}));
  DIFFER("triplet_margin_loss swap", false, true, triplet({.swap = value}));

  const std::optional<std::int64_t> one = 1, two = 2;
  DIFFER("cross_entropy ignore_index", one, two, cross_entropy(x, ids, {.ignore_index = value}));
  DIFFER("cross_entropy label_smoothing of probabilities", 0.1, 0.2, cross_entropy(x, y, {.label_smoothing = value}));
  DIFFER_IN_DATA("nll_loss ignore_index", one, two, nll_loss(x, ids, {.ignore_index = value}));
  DIFFER("kl_div batchmean", KlDivReduction(batchmean), Reduction::mean, kl_div(x, y, {.reduction = value}));
  DIFFER("kl_div log_target", false, true, kl_div(x, y, {.log_target = value}));
  DIFFER("gaussian_nll_loss full", false, true, gaussian_nll_loss(x, y, y, {.full = value}));
  DIFFER("gaussian_nll_loss eps", 1e-6, 1e-3, gaussian_nll_loss(x, y, y, {.eps = value}));
}

}  // namespace
}  // namespace xgrad::testing
