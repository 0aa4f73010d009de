// Drawing programs: a table of steps, each of which chooses its inputs among the values so far.
#include "programs.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <utility>

#include <xgrad/ops/ops.h>

#include "draw.h"

namespace xgrad::testing {
namespace {

constexpr double margin = 0.02;  // between a value and the next kink

// What a step throws that finds no value to work on.
struct NoFit {};

using Fits = std::function<bool(const Array&)>;

bool all_of(const Array& a, const std::function<bool(double)>& good) {
  return std::all_of(a.begin(), a.end(), [&](Real x) { return good(static_cast<double>(x)); });
}
Fits within(double low, double high) {
  return [=](const Array& a) { return all_of(a, [=](double x) { return x >= low && x <= high; }); };
}
Fits far_from(std::vector<double> kinks) {
  return [kinks = std::move(kinks)](const Array& a) {
    return all_of(a, [&](double x) {
      return std::ranges::all_of(kinks, [&](double kink) { return std::abs(x - kink) > margin; });
    });
  };
}
Fits of_rank(int least, int most = 9) {
  return [=](const Array& a) { return a.rank() >= least && a.rank() <= most && a.size() > 0; };
}
// Elements whose order does not change when they move a little.
bool distinct(const Array& a) {
  std::vector<Real> sorted(a.begin(), a.end());
  std::ranges::sort(sorted);
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i] - sorted[i - 1] < margin / 2) return false;
  }
  return true;
}
Fits both(const Fits& a, const Fits& b) {
  return [=](const Array& x) { return a(x) && b(x); };
}

class Drawing {
 public:
  explicit Drawing(std::uint64_t number) : draw(number), long_axes_(number % 12 == 0) {
    const std::int64_t steps = draw.from(5, 30);
    for (std::int64_t i = draw.from(1, 3); i > 0; --i) leaf(shape());
    for (std::int64_t done = 0, tried = 0; done < steps && tried < 60 * steps; ++tried) done += try_step();
    add_loss();
  }

  Program result() && { return std::move(program_); }

  // ---- For the steps ----

  Draw draw;

  const Array& at(int value) const { return values_[static_cast<std::size_t>(value)]; }
  const Shape& shape_of(int value) const { return at(value).shape(); }
  int rank(int value) const { return at(value).rank(); }

  // A value that fits, one of the last in half of the cases. Throws NoFit.
  int any(const Fits& fits = of_rank(0)) {
    const auto count = static_cast<int>(values_.size());
    for (int i = 0; i < 12; ++i) {
      const auto value = static_cast<int>(draw.from(draw.coin() ? std::max(0, count - 4) : 0, count - 1));
      if (fits(at(value))) return value;
    }
    throw NoFit();
  }
  // A value whose shape broadcasts with this one's.
  int fellow_of(int value, const Fits& fits = of_rank(0)) {
    return any([&](const Array& a) {
      const Shape &p = shape_of(value), &q = a.shape();
      for (int i = 1; i <= std::min(p.rank(), q.rank()); ++i) {
        if (p.dim(-i) != q.dim(-i) && p.dim(-i) != 1 && q.dim(-i) != 1) return false;
      }
      return fits(a);
    });
  }
  // A new leaf with values in [low, high).
  int leaf(const Shape& shape, double low = -1, double high = 1) {
    Array numbers(shape);
    for (std::int64_t i = 0; i < numbers.size(); ++i) numbers.mutable_data()[i] = draw.real(low, high);
    Step step{.what = "leaf", .leaf = static_cast<int>(program_.leaves.size())};
    program_.leaves.push_back(numbers);
    add(std::move(step), {numbers});
    return static_cast<int>(values_.size()) - 1;
  }
  std::int64_t size() { return long_axes_ ? draw.from(1, 60) : draw.from(1, 5); }
  Shape shape() {
    Shape to;
    for (std::int64_t i = draw.from(0, 4); i > 0; --i) to.push_back(draw.one_in(5) ? 1 : size());
    return to.numel() > most_elements() ? Shape{size(), size()} : to;
  }
  // Some axes of a value, at least one.
  Axes axes(int value) {
    Axes some;
    for (int i = 0; i < rank(value); ++i) {
      if (draw.coin()) some.push_back(draw.coin() ? i : i - rank(value));
    }
    if (some.empty()) some.push_back(axis(value));
    return some;
  }
  int axis(int value) { return static_cast<int>(draw.from(-rank(value), rank(value) - 1)); }
  // One of these.
  Step choose(std::initializer_list<Step> steps) { return steps.begin()[draw.from(0, std::ssize(steps) - 1)]; }

 private:
  std::int64_t most_elements() const { return long_axes_ ? 30'000 : 150; }

  void add(Step step, std::vector<Array> results) {
    step.first = static_cast<int>(values_.size());
    for (Array& result : results) {
      step.shapes.push_back(result.shape());
      values_.push_back(std::move(result));
    }
    for (const int input : step.inputs) used_[static_cast<std::size_t>(input)] = true;
    used_.resize(values_.size());
    program_.steps.push_back(std::move(step));
  }

  std::vector<Array> results_of(const Step& step) const {
    const NoGrad off;
    Tensors inputs;
    for (const int input : step.inputs) inputs.push_back(at(input));
    std::vector<Array> results;
    for (const Tensor& result : step.run(inputs)) results.push_back(result.value());
    return results;
  }

  bool try_step();

  // Values far from 1 would make the next ones change too fast for differences.
  void tame(int value) {
    const double most = largest(at(value));
    if (most < 2) return;
    const auto factor = static_cast<Real>(std::exp2(-std::floor(std::log2(most))));
    Step step{str("mul by ", factor), {value}, [=](const Tensors& x) { return Tensors{x[0] * factor}; }};
    std::vector<Array> results = results_of(step);
    add(std::move(step), std::move(results));
  }

  void add_loss() {
    Step step{.what = "loss"};
    Tensors weights;
    for (int v = 0; std::cmp_less(v, values_.size()); ++v) {
      if (used_[static_cast<std::size_t>(v)]) continue;
      step.inputs.push_back(v);
      weights.push_back(draw.normal(shape_of(v)));
    }
    step.run = [weights](const Tensors& x) {
      Tensor total = sum(weights[0] * x[0]);
      for (std::size_t i = 1; i < x.size(); ++i) total += sum(x[i] * weights[i]);
      return Tensors{total};
    };
    std::vector<Array> results = results_of(step);
    add(std::move(step), std::move(results));
  }

  bool long_axes_;
  Program program_;
  std::vector<Array> values_;
  std::vector<bool> used_;
};

#define RUN(...) [=](const Tensors& x) { return Tensors{__VA_ARGS__}; }
#define RUN_LIST(...) [=](const Tensors& x) { return Tensors(__VA_ARGS__); }
#define NAMED(f) {#f, xgrad::f}

// ---- Elementwise ----

struct Function1 {
  const char* name;
  Tensor (*f)(const Tensor&);
};
template <std::size_t N>
Step one_of(Drawing& d, const Function1 (&functions)[N], const Fits& fits) {
  const auto [name, f] = functions[d.draw.from(0, N - 1)];
  return {name, {d.any(fits)}, [f = f](const Tensors& x) { return Tensors{f(x[0])}; }};
}

Step smooth(Drawing& d) {
  static constexpr Function1 functions[] = {
      NAMED(sin),    NAMED(cos),        NAMED(tanh),       NAMED(sigmoid), NAMED(softplus), NAMED(silu),
      NAMED(mish),   NAMED(erf),        NAMED(exp),        NAMED(expm1),   NAMED(exp2),     NAMED(square),
      NAMED(atan),   NAMED(asinh),      NAMED(logsigmoid), NAMED(sinh),    NAMED(cosh),     NAMED(neg),
      NAMED(alias),  NAMED(tanhshrink), {"gelu", [](const Tensor& x) { return gelu(x); }},
      {"gelu_tanh", [](const Tensor& x) { return gelu(x, Gelu::tanh); }},
      {"cubed", [](const Tensor& x) { return pow(x, 3); }}};
  return one_of(d, functions, within(-3, 3));
}
Step of_positive(Drawing& d) {
  static constexpr Function1 functions[] = {NAMED(log),  NAMED(log1p), NAMED(log2), NAMED(log10),
                                            NAMED(sqrt), NAMED(rsqrt), NAMED(reciprocal)};
  return one_of(d, functions, within(0.1, 4));
}
Step inside_1(Drawing& d) {
  static constexpr Function1 functions[] = {NAMED(asin), NAMED(acos), NAMED(atanh), NAMED(tan)};
  return one_of(d, functions, within(-0.9, 0.9));
}
Step bent_at_0(Drawing& d) {
  static constexpr Function1 functions[] = {
      NAMED(relu), NAMED(abs), NAMED(selu), NAMED(softsign), NAMED(sign), {"elu", [](const Tensor& x) { return elu(x); }},
      {"celu", [](const Tensor& x) { return celu(x, 0.7); }},
      {"leaky_relu", [](const Tensor& x) { return leaky_relu(x); }}};
  return one_of(d, functions, far_from({0}));
}
Step bent(Drawing& d) {
  static constexpr Function1 functions[] = {
      NAMED(relu6),       NAMED(hardsigmoid), NAMED(hardswish), NAMED(floor), NAMED(ceil),
      NAMED(round),       NAMED(trunc),       NAMED(frac),      {"hardtanh", [](const Tensor& x) { return hardtanh(x); }},
      {"softshrink", [](const Tensor& x) { return softshrink(x); }},
      {"hardshrink", [](const Tensor& x) { return hardshrink(x); }},
      {"clamp", [](const Tensor& x) { return clamp(x, {.min = -0.5, .max = 0.5}); }}};
  return one_of(d, functions, far_from({-3, -2.5, -2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2, 2.5, 3}));
}

Step arithmetic(Drawing& d) {
  const int a = d.any();
  if (d.draw.one_in(4)) {
    const Real c = d.draw.real(0.3, 2);
    return d.choose({
        {str(c, " + "), {a}, RUN(c + x[0])},
        {str(c, " - "), {a}, RUN(c - x[0])},
        {str("div by ", c), {a}, RUN(x[0] / c)},
        {str("mul by ", c), {a}, RUN(x[0] * c)},
    });
  }
  const int b = d.draw.one_in(4) ? a : d.fellow_of(a);
  switch (d.draw.from(0, 5)) {
    case 0:
      return {"add", {a, b}, RUN(x[0] + x[1])};
    case 1:
      return {"sub", {a, b}, RUN(x[0] - x[1])};
    case 2:
      return {"logaddexp", {a, b}, RUN(logaddexp(x[0], x[1]))};
    case 3:
      return {"lerp", {a, b, d.fellow_of(a, [&](const Array& t) { return t.shape() == d.shape_of(a); })},
              RUN(lerp(x[0], x[1], x[2]))};
    default:
      return {"mul", {a, b}, RUN(x[0] * x[1])};
  }
}
Step quotient(Drawing& d) {
  const int a = d.any();
  switch (d.draw.from(0, 2)) {
    case 0:
      return {"div", {a, d.fellow_of(a, both(far_from({0}), [](const Array& b) {
                             return all_of(b, [](double x) { return std::abs(x) > 0.3; });
                           }))},
              RUN(x[0] / x[1])};
    case 1:
      return {"atan2", {a, d.fellow_of(a, within(0.2, 4))}, RUN(atan2(x[0], x[1]))};
    default: {
      const int base = d.any(within(0.2, 3));
      return {"pow", {base, d.fellow_of(base)}, RUN(pow(x[0], x[1]))};
    }
  }
}
Step choice(Drawing& d) {
  const int a = d.any(), b = d.fellow_of(a);
  const NoGrad off;
  if (!far_from({0})((Tensor(d.at(a)) - Tensor(d.at(b))).value())) throw NoFit();
  return d.choose({
      {"maximum", {a, b}, RUN(maximum(x[0], x[1]))},
      {"minimum", {a, b}, RUN(minimum(x[0], x[1]))},
      {"where", {a, b}, RUN(where(x[0] > x[1], x[0] * x[1], x[1]))},
  });
}

// ---- Reductions, scans, sorting ----

Step reduction(Drawing& d) {
  const int a = d.any(of_rank(1));
  const Axes over = d.axes(a);
  const KeepdimOptions keep{.keepdim = d.draw.coin()};
  return d.choose({
      {str("mean over ", over), {a}, RUN(mean(x[0], over, keep))},
      {str("logsumexp over ", over), {a}, RUN(logsumexp(x[0], over, keep))},
      {str("prod over ", over), {a}, RUN(prod(x[0], over, keep))},
      {str("var over ", over), {a}, RUN(var(x[0], over, {.keepdim = keep.keepdim, .correction = 0}))},
      {str("sum over ", over), {a}, RUN(sum(x[0], over, keep))},
  });
}
Step scan(Drawing& d) {
  const int a = d.any(of_rank(1)), axis = d.axis(a);
  if (d.draw.coin()) return {str("cumsum along ", axis), {a}, RUN(cumsum(x[0], axis))};
  return {str("cumprod along ", axis), {a}, RUN(cumprod(x[0], axis))};
}
Step selection(Drawing& d) {
  const int a = d.any(both(of_rank(1), distinct)), axis = d.axis(a);
  const std::int64_t k = d.draw.from(1, d.shape_of(a).dim(axis));
  const Axes over = d.axes(a);
  return d.choose({
      {str("max over ", over), {a}, RUN(max(x[0], over))},
      {str("min over ", over), {a}, RUN(min(x[0], over))},
      {str("max along ", axis), {a}, RUN(max(x[0], axis).values)},
      {str("sort along ", axis), {a}, RUN(sort(x[0], axis).values)},
      {str("topk ", k, " along ", axis), {a}, RUN(topk(x[0], k, axis).values)},
      {str("kthvalue ", k, " along ", axis), {a}, RUN(kthvalue(x[0], k, axis).values)},
      {str("quantile along ", axis), {a}, RUN(quantile(x[0], 0.4, axis))},
  });
}

// ---- Movements ----

// Sizes with this product.
Shape factors_of(Drawing& d, std::int64_t n) {
  Shape to;
  while (n > 1 && to.rank() < 3) {
    std::int64_t factor = n;
    for (int i = 0; i < 4; ++i) {
      if (const std::int64_t tried = d.draw.from(1, n); n % tried == 0) factor = tried;
    }
    to.push_back(factor);
    n /= factor;
  }
  if (n > 1 || d.draw.one_in(4)) to.push_back(n);
  return to;
}

Step nothing_changes(Drawing& d) {
  const int a = d.any(of_rank(1));
  const Shape same = d.shape_of(a);
  const int axis = d.axis(a);
  Shape ones;
  ShortList<Padding> nothing;
  for (int i = 0; i < same.rank(); ++i) {
    ones.push_back(1);
    nothing.push_back({});
  }
  return d.choose({
      {"reshape to the same", {a}, RUN(reshape(x[0], same))},
      {"flatten one axis", {a}, RUN(flatten(x[0], axis, axis))},
      {"broadcast_to the same", {a}, RUN(broadcast_to(x[0], same))},
      {"tile once", {a}, RUN(tile(x[0], ones))},
      {"dropout of nothing", {a}, RUN(dropout(x[0], 0))},
      {"slice of all", {a}, RUN(slice(x[0], {_}))},
      {"squeeze", {a}, RUN(squeeze(x[0]))},
      {"concat of one", {a}, RUN(concat({x[0]}, axis))},
      {"pad by nothing", {a}, RUN(pad(x[0], nothing))},
      {"repeat_interleave once", {a}, RUN(repeat_interleave(x[0], 1, axis))},
      {"roll by nothing", {a}, RUN(roll(x[0], 0, axis))},
      {"split in one", {a}, RUN_LIST(split(x[0], {same.dim(axis)}, axis))},
  });
}
Step movement(Drawing& d) {
  const int a = d.any(of_rank(1)), axis = d.axis(a), other = d.axis(a);
  const Shape shape = d.shape_of(a);
  const Axes over = d.axes(a);
  switch (d.draw.from(0, 8)) {
    case 0: {
      const Shape to = factors_of(d, shape.numel());
      return {str("reshape to ", to), {a}, RUN(reshape(x[0], to))};
    }
    case 1:
      return {"flatten", {a}, RUN(flatten(x[0]))};
    case 2:
      return {str("unsqueeze ", axis), {a}, RUN(unsqueeze(x[0], axis))};
    case 3:
      return {str("transpose ", axis, " ", other), {a}, RUN(transpose(x[0], axis, other))};
    case 4: {
      std::vector<int> order;
      for (int i = 0; i < shape.rank(); ++i) order.insert(order.begin() + d.draw.from(0, i), i);
      const Axes axes{ShortList<int>(std::span<const int>(order))};
      return {str("permute ", axes), {a}, RUN(permute(x[0], axes))};
    }
    case 5:
      return {str("flip ", over), {a}, RUN(flip(x[0], over))};
    case 6: {
      const std::int64_t shift = d.draw.from(-3, 3);
      return {str("roll ", axis, " by ", shift), {a}, RUN(roll(x[0], shift, axis))};
    }
    case 7: {
      Shape to = shape;
      for (std::int64_t& size : to) size = size == 1 ? d.draw.from(1, 3) : size;
      if (d.draw.coin()) to.insert(0, d.draw.from(1, 3));
      return {str("broadcast_to ", to), {a}, RUN(broadcast_to(x[0], to))};
    }
    default: {
      Shape counts;
      for (int i = 0; i < shape.rank(); ++i) counts.push_back(d.draw.from(1, 2));
      return {str("tile ", counts), {a}, RUN(tile(x[0], counts))};
    }
  }
}
Step part(Drawing& d) {
  const int a = d.any(of_rank(1)), axis = d.axis(a);
  const std::int64_t n = d.shape_of(a).dim(axis), first = d.draw.from(0, n - 1), length = d.draw.from(1, n - first);
  switch (d.draw.from(0, 5)) {
    case 0:
      return {str("narrow ", axis, " from ", first, " by ", length), {a}, RUN(narrow(x[0], axis, first, length))};
    case 1: {
      const std::int64_t step = d.draw.coin() ? -1 : d.draw.from(1, 2);
      return {str("slice with step ", step), {a}, RUN(slice(x[0], {ellipsis, xgrad::slice(none, none, step)}))};
    }
    case 2: {
      const std::int64_t at = d.draw.from(0, d.shape_of(a)[0] - 1);
      return {str("row ", at), {a}, RUN(x[0][at])};
    }
    case 3:
      return {str("split ", axis, " at ", first), {a}, RUN_LIST(split(x[0], {first, n - first}, axis))};
    case 4:
      if (n > 4) throw NoFit();
      return {str("unbind ", axis), {a}, RUN_LIST(unbind(x[0], axis))};
    default:
      return {str("chunk ", axis), {a}, RUN_LIST(chunk(x[0], 2, axis))};
  }
}
Step join(Drawing& d) {
  const int a = d.any(of_rank(1)), axis = d.axis(a);
  const int b = d.any([&](const Array& other) {
    Shape p = d.shape_of(a), q = other.shape();
    if (p.rank() != q.rank()) return false;
    p[(axis + p.rank()) % p.rank()] = q[(axis + p.rank()) % p.rank()] = 1;
    return p == q;
  });
  if (d.shape_of(a) == d.shape_of(b) && d.draw.coin()) return {str("stack ", axis), {a, b, a}, RUN(stack(x, axis))};
  if (d.draw.coin()) return {str("concat ", axis), {a, b, a}, RUN(concat(x, axis))};
  return {str("concat ", axis), {a, b}, RUN(concat(x, axis))};
}
Step edges(Drawing& d) {
  const int a = d.any(of_rank(1));
  ShortList<Padding> by;
  for (int i = 0; i < d.rank(a); ++i) by.push_back({d.draw.from(0, 1), d.draw.from(0, 1)});
  if (d.draw.coin()) return {"pad", {a}, RUN(pad(x[0], by, 0.5))};
  const bool longer = std::ranges::all_of(d.shape_of(a), [](std::int64_t n) { return n > 1; });
  const PadMode mode = longer && d.draw.coin() ? PadMode::reflect : d.draw.coin() ? PadMode::replicate : PadMode::circular;
  return {str("pad in mode ", static_cast<int>(mode)), {a}, RUN(pad(x[0], by, mode))};
}
Step of_matrix(Drawing& d) {
  const int a = d.any(of_rank(2));
  const std::int64_t offset = d.draw.from(-1, 1);
  return d.choose({
      {str("tril ", offset), {a}, RUN(tril(x[0], offset))},
      {str("triu ", offset), {a}, RUN(triu(x[0], offset))},
      {"diagonal", {a}, RUN(linalg::diagonal(x[0]))},
  });
}

// ---- Indices and masks ----

Step by_index(Drawing& d) {
  const int a = d.any(of_rank(1)), axis = d.axis(a);
  const Shape shape = d.shape_of(a);
  const std::int64_t n = shape.dim(axis);
  const Index rows = d.draw.index(Shape{d.draw.from(1, 4)}, 0, n - 1);
  const Index places = d.draw.index(shape, 0, n - 1);
  switch (d.draw.from(0, 6)) {
    case 0:
      return {str("index_select ", axis), {a}, RUN(index_select(x[0], axis, rows))};
    case 1:
      return {str("gather ", axis), {a}, RUN(gather(x[0], axis, places))};
    case 2:
      return {str("scatter_add ", axis), {a, a}, RUN(scatter_add(x[0], axis, places, x[1]))};
    case 3:
      return {"rows", {a}, RUN(x[0][rows % shape[0]])};
    case 4: {
      Index order(Shape{n});  // every place once
      for (std::int64_t i = 0; i < n; ++i) order.mutable_data()[i] = (i + 1) % n;
      return {str("index_add ", axis), {a, a}, RUN(index_add(x[0], axis, order, x[1]))};
    }
    case 5:
      if (shape.rank() != 2) throw NoFit();
      return {"embedding", {a}, RUN(embedding(x[0], rows % shape[0]))};
    default:
      return {str("repeat_interleave ", axis), {a}, RUN(repeat_interleave(x[0], 2, axis))};
  }
}
Step by_mask(Drawing& d) {
  const int a = d.any(of_rank(1));
  const Mask mask = d.draw.mask(d.shape_of(a));
  const RandomKey key = d.draw.key();
  switch (d.draw.from(0, 3)) {
    case 0:
      return {"masked_fill", {a}, RUN(masked_fill(x[0], mask, Real(0.5)))};
    case 1:
      return {"masked_select", {a}, RUN(masked_select(x[0], mask))};
    case 2:
      return {"where of a mask", {a, d.fellow_of(a)}, RUN(where(mask, x[0], x[1]))};
    default:
      return {"dropout", {a}, RUN(dropout(x[0], 0.4, key))};
  }
}

// ---- Products ----

Step product(Drawing& d) {
  const int a = d.any(of_rank(2));
  const std::int64_t inner = d.shape_of(a).dim(-1);
  switch (d.draw.from(0, 5)) {
    case 0:
      return {"matmul with its transpose", {a, a}, RUN(matmul(x[0], x[1], {.transpose_b = true}))};
    case 1:
      return {"matmul", {a, d.any([&](const Array& b) { return b.rank() == 2 && b.dim(0) == inner; })},
              RUN(matmul(x[0], x[1]))};
    case 2: {
      const std::int64_t out = d.size();
      const int w = d.leaf({out, inner}), b = d.leaf({out});
      return {"linear", {a, w, b}, RUN(linear(x[0], x[1], x[2]))};
    }
    case 3:
      return {"einsum ...i,...j->...ij", {a, a}, RUN(einsum("...i,...j->...ij", x))};
    case 4: {
      const int v = d.any(of_rank(1, 1));
      return {"outer", {v, v}, RUN(outer(x[0], x[1]))};
    }
    default:
      return {"cosine_similarity", {a, a}, RUN(cosine_similarity(x[0] - Real(2.5), x[1] + Real(2.5), -1))};
  }
}
Step linear_algebra(Drawing& d) {
  const int a = d.any([](const Array& m) { return m.rank() == 2 && m.dim(0) == m.dim(1) && m.dim(0) < 9; });
  const std::int64_t n = d.shape_of(a)[0];
  const auto spd = [one = eye(n)](const Tensor& m) { return matmul(m, m, {.transpose_b = true}) + one; };
  return d.choose({
      {"inv", {a}, RUN(linalg::inv(spd(x[0])))},
      {"slogdet", {a}, RUN(linalg::slogdet(spd(x[0])).logabsdet)},
      {"cholesky", {a}, RUN(linalg::cholesky(spd(x[0])))},
      {"det", {a}, RUN(linalg::det(spd(x[0])))},
      {"solve", {a, a}, RUN(linalg::solve(spd(x[0]), x[1]))},
  });
}

// ---- Fused operations ----

Step row_wise(Drawing& d) {
  const int a = d.any(of_rank(1)), axis = d.axis(a);
  const std::int64_t n = d.shape_of(a).back();
  const Mask masked = d.draw.mask(d.shape_of(a));
  switch (d.draw.from(0, 6)) {
    case 0:
      return {str("softmax along ", axis), {a}, RUN(softmax(x[0], axis))};
    case 1:
      return {str("log_softmax along ", axis), {a}, RUN(log_softmax(x[0], axis))};
    case 2:
      return {"masked_softmax", {a}, RUN(masked_softmax(x[0], masked))};
    case 3: {
      const int gamma = d.leaf({n}), beta = d.leaf({n});
      return {"layer_norm", {a, gamma, beta}, RUN(layer_norm(x[0], x[1], x[2], {.eps = 0.1}))};
    }
    case 4:
      return {"rms_norm", {a, d.leaf({n})}, RUN(rms_norm(x[0], x[1], {.eps = 0.1}))};
    case 5: {
      if (d.rank(a) < 2) throw NoFit();
      const std::int64_t channels = d.shape_of(a)[1];
      const int gamma = d.leaf({channels}), beta = d.leaf({channels});
      return {"batch_norm", {a, gamma, beta}, RUN(batch_norm(x[0], x[1], x[2], {.eps = 0.1}).y)};
    }
    default:
      if (n % 2 != 0) throw NoFit();
      return {"glu", {a}, RUN(glu(x[0]))};
  }
}
Step loss(Drawing& d) {
  const int a = d.any(of_rank(2, 2)), b = d.any([&](const Array& y) { return y.shape() == d.shape_of(a); });
  const Reduction r = std::vector{Reduction::mean, Reduction::sum, Reduction::none}[
      static_cast<std::size_t>(d.draw.from(0, 2))];
  const Index targets = d.draw.index({d.shape_of(a)[0]}, 0, d.shape_of(a)[1] - 1);
  return d.choose({
      {"mse_loss", {a, b}, RUN(mse_loss(x[0], x[1], {r}))},
      {"binary_cross_entropy_with_logits", {a, b}, RUN(binary_cross_entropy_with_logits(x[0], sigmoid(x[1]), {.reduction = r}))},
      {"kl_div", {a, b}, RUN(kl_div(log_softmax(x[0]), softmax(x[1]), {r}))},
      {"cross_entropy", {a}, RUN(cross_entropy(x[0], targets, {.label_smoothing = 0.1, .reduction = r}))},
  });
}
Step attention_step(Drawing& d) {
  const int a = d.any(both(of_rank(3, 3), [](const Array& q) { return q.dim(-1) < 33; }));
  const Shape shape = d.shape_of(a);
  AttentionOptions options;
  options.mask.causal = d.draw.coin();
  if (d.draw.coin()) options.mask.lengths = d.draw.index({shape[0]}, 1, shape[1]);
  const std::int64_t heads = shape[2] % 2 == 0 && d.draw.coin() ? 2 : 1;
  const int other = d.any([&](const Array& k) { return k.shape() == shape; });
  switch (d.draw.from(0, 2)) {
    case 0:
      if (shape[2] / heads % 2 != 0) throw NoFit();
      return {"rotary", {a}, RUN(rotary(x[0], {.heads = heads}))};
    case 1:
      return {"linear_attention", {a, other, a},
              RUN(linear_attention(x[0], x[1], x[2], heads, {.causal = options.mask.causal}))};
    default:
      return {"multi_head_attention", {a, other, a}, RUN(multi_head_attention(x[0], x[1], x[2], heads, options))};
  }
}
Step recurrence(Drawing& d) {
  const int a = d.any(of_rank(3, 3));
  const Shape shape = d.shape_of(a);
  const std::int64_t B = shape[0], h = d.draw.from(1, 3), kind = d.draw.from(0, 2),
                     gates = kind == 0 ? 1 : kind == 1 ? 4 : 3;
  RecurrenceOptions options{.reverse = d.draw.coin()};
  if (d.draw.coin()) options.lengths = d.draw.index({B}, 1, shape[1]);
  const int in = d.leaf({gates * h, shape[2]}), weight = d.leaf({gates * h, h}), state = d.leaf({B, h});
  // The final state is a part of the output, which becomes a tensor of its own here.
  const auto results = [](const Recurrence& y) {
    return y.c.defined() ? Tensors{alias(y.output), y.h, y.c} : Tensors{alias(y.output), y.h};
  };
  switch (kind) {
    case 0:
      return {"rnn", {a, in, weight, state},
              RUN_LIST(results(rnn(linear(x[0], x[1]), x[2], x[3], Squash::tanh, options)))};
    case 1:
      return {"lstm", {a, in, weight, state, d.leaf({B, h})},
              RUN_LIST(results(lstm(linear(x[0], x[1]), x[2], x[3], x[4], options)))};
    default:
      return {"gru", {a, in, weight, d.leaf({3 * h}), state},
              RUN_LIST(results(gru(linear(x[0], x[1]), x[2], x[3], x[4], options)))};
  }
}
Step image(Drawing& d) {
  const int a = d.any(of_rank(4, 4));
  const Shape shape = d.shape_of(a);
  const std::int64_t h = shape[2], w = shape[3], kernel = d.draw.from(1, std::min<std::int64_t>(3, std::min(h, w)));
  const Size2d stride{d.draw.from(1, 2), d.draw.from(1, 2)};
  switch (d.draw.from(0, 5)) {
    case 0:
      return {"avg_pool2d", {a}, RUN(avg_pool2d(x[0], kernel, {.stride = stride}))};
    case 1:
      if (!distinct(d.at(a))) throw NoFit();
      return {"max_pool2d", {a}, RUN(max_pool2d(x[0], kernel, {.stride = stride}))};
    case 2:
      return {"interpolate", {a},
              RUN(interpolate(x[0], {.size = Size2d(3, 2), .mode = Interpolation::bilinear}))};
    case 3:
      return {"unfold", {a}, RUN(unfold(x[0], kernel))};
    case 4:
      return {"conv_transpose2d", {a, d.leaf({shape[1], 2, kernel, kernel})},
              RUN(conv_transpose2d(x[0], x[1], {}, {.stride = stride}))};
    default: {
      const int weight = d.leaf({2, shape[1], kernel, kernel}), bias = d.leaf({2});
      return {"conv2d", {a, weight, bias}, RUN(conv2d(x[0], x[1], x[2], {.stride = stride, .padding = kernel / 2}))};
    }
  }
}
Step line(Drawing& d) {
  const int a = d.any(of_rank(3, 3));
  const Shape shape = d.shape_of(a);
  const std::int64_t kernel = d.draw.from(1, std::min<std::int64_t>(3, shape[2]));
  if (d.draw.coin()) return {"avg_pool1d", {a}, RUN(avg_pool1d(x[0], kernel))};
  return {"conv1d", {a, d.leaf({2, shape[1], kernel})}, RUN(conv1d(x[0], x[1]))};
}

Step checkpointed(Drawing& d) {
  const int a = d.any(within(-3, 3)), b = d.fellow_of(a);
  return {"checkpoint of tanh(a) * sigmoid(b)",
          {a, b},
          RUN(checkpoint([](const Tensor& u, const Tensor& v) { return tanh(u) * sigmoid(v); }, x[0], x[1]))};
}

#undef RUN
#undef RUN_LIST
#undef NAMED

bool Drawing::try_step() {
  static constexpr Step (*table[])(Drawing&) = {
      smooth,  smooth,          of_positive, inside_1,    bent_at_0, bent,     arithmetic, arithmetic, quotient,
      choice,  reduction,       scan,        selection,   movement,  movement, part,       part,       join,
      edges,   nothing_changes, of_matrix,   by_index,    by_mask,   product,  product,    row_wise,   row_wise,
      loss,    linear_algebra,  image,       line,        recurrence, attention_step, checkpointed};
  const std::size_t steps = program_.steps.size();
  const std::size_t known = values_.size(), leaves = program_.leaves.size();
  const auto undo = [&] {  // leaves of a step that did not become one
    program_.steps.resize(steps);
    program_.leaves.resize(leaves);
    values_.resize(known);
    used_.resize(known);
    return false;
  };
  try {
    Step step = table[draw.from(0, std::ssize(table) - 1)](*this);
    std::vector<Array> results = results_of(step);
    for (const Array& result : results) {
      const bool good = result.size() <= most_elements() && result.rank() <= 5 &&
                        all_of(result, [](double x) { return std::isfinite(x) && std::abs(x) < 1e4; });
      if (!good) return undo();
    }
    add(std::move(step), std::move(results));
  } catch (const NoFit&) {
    return undo();
  }
  const Step& added = program_.steps.back();
  for (int v = added.first, end = added.end(); v < end; ++v) tame(v);
  return true;
}

}  // namespace

void Program::run(const Tensors& given, Tensors& values, std::size_t from, std::size_t to) const {
  for (std::size_t s = from; s < to; ++s) {
    const Step& step = steps[s];
    Tensors inputs;
    for (const int input : step.inputs) inputs.push_back(values[static_cast<std::size_t>(input)]);
    const Tensors results = step.run ? step.run(inputs) : Tensors{given[static_cast<std::size_t>(step.leaf)]};
    std::ranges::copy(results, values.begin() + step.first);
  }
}

Program program_of(std::uint64_t number) { return Drawing(number).result(); }

void append(std::string& out, const Program& program) {
  for (const Step& step : program.steps) {
    for (int v = step.first; v < step.end(); ++v) xgrad::append(out, str(v > step.first ? ", %" : "%", v));
    xgrad::append(out, str(" = ", step.what, '('));
    for (std::size_t i = 0; i < step.inputs.size(); ++i) xgrad::append(out, str(i > 0 ? ", %" : "%", step.inputs[i]));
    xgrad::append(out, ")");
    for (const Shape& shape : step.shapes) xgrad::append(out, str(" ", shape));
    xgrad::append(out, "\n");
  }
}

}  // namespace xgrad::testing
