// Every integer that an operation takes, at the ends of its type: a right result or a typed error, and no
// arithmetic that overflows on the way (the sanitizer builds see that).
#include "support/extremes.h"
#include "support/check.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <string>

#include <xgrad/core/diagram/render/drawing.h>
#include <xgrad/ops/ops.h>

namespace xgrad::testing {
namespace {

constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();

const std::vector<Shape> shapes{{4, 3}, {0, 4}, {3, 0}, {1, 1}};

Tensor counted(const Shape& shape) { return variable(to_real(arange(shape.numel())).value().reshaped(shape)); }

// a modulo b, not negative.
std::int64_t modulo(Wide a, Wide b) { return static_cast<std::int64_t>((a % b + b) % b); }

TEST_CASE("extreme numbers: ranges hold what their bounds say") {
  const MemoryLimit limit(std::int64_t{8} << 20);
  for (const std::int64_t first : numbers) {
    for (const std::int64_t last : numbers) {
      for (const std::int64_t step : numbers) {
        CAPTURE(first);
        CAPTURE(last);
        CAPTURE(step);
        if (step == 0) {
          error_of<ValueError>([&] { arange(first, last, step); });
          continue;
        }
        const Wide distance = step > 0 ? Wide{last} - first : Wide{first} - last,
                   stride = step > 0 ? step : -Wide{step};
        const Wide count = distance > 0 ? (distance - 1) / stride + 1 : 0;
#ifdef XGRAD_MEMORY_UNLIMITED
        if (count > 1 << 20 && count < Wide{1} << 60) continue;
#endif
        const auto check = [&] {
          const Index range = arange(first, last, step);
          CHECK(range.size() == count);
          if (range.size() == 0) return;
          CHECK(range.data()[0] == first);
          CHECK(range.data()[range.size() - 1] == first + (count - 1) * step);
        };
        count <= 1000 ? check() : accepts(count < Wide{1} << 59, check);  // there is memory for so few
      }
    }
  }
  error_of<LimitError>([] { arange(least, most); });
  CHECK(equal(arange(least, most, std::int64_t{1} << 62), index({least, least / 2, 0, std::int64_t{1} << 62})));
  for (const std::int64_t n : sizes()) accepts(n >= 0 && n < std::int64_t{1} << 59, [&] { arange(n); });
}

TEST_CASE("extreme numbers: sizes of new arrays") {
  const MemoryLimit limit;
  const RandomKey key{.seed = 1, .draw = 0};
  for (const std::int64_t n : sizes()) {
    CAPTURE(n);
    const bool legal = n >= 0 && n < std::int64_t{1} << 59;
    accepts(legal, [&] { zeros({n}); });
    accepts(legal, [&] { ones({2, n}); });
    accepts(legal, [&] { full({n, 0}, 1); });
    accepts(legal, [&] { linspace(0, 1, n); });
    accepts(legal, [&] { rand({n}); });
    accepts(legal, [&] { randn({n, 1}); });
    accepts(legal, [&] { randint(0, 2, {n}); });
    accepts(legal, [&] { randperm(n, key); });
    accepts(n >= 0 && n < 1 << 24, [&] { eye(n); });
    accepts(legal, [&] { eye(2, n); });
    accepts(legal, [&] { one_hot(Index(Shape{0}), n); });
    accepts(n > 1 && legal, [&] { one_hot(index({1}), n); });
    for (const std::int64_t m : sizes()) {
      CAPTURE(m);
      const bool both =
          legal && m >= 0 && Wide{std::max<std::int64_t>(n, 1)} * std::max<std::int64_t>(m, 1) < Wide{1} << 59;
      accepts(both, [&] {
        const std::int64_t count = Shape{n, m}.numel();
        CHECK(count == Wide{n} * m);
      });
      accepts(both, [&] { (void)Mask({n, m}, true); });
      accepts(both, [&] { broadcast_to(Tensor(1), {n, m}); });
    }
  }
  error_of<LimitError>([] { broadcast_to(Tensor(1), {std::int64_t{1} << 40, std::int64_t{1} << 40}); });
}

TEST_CASE("extreme numbers: draws stay between their bounds") {
  const RandomKey key{.seed = 1, .draw = 0};
  for (const std::int64_t low : numbers) {
    for (const std::int64_t high : numbers) {
      CAPTURE(low);
      CAPTURE(high);
      accepts(low < high, [&] {
        for (const std::int64_t n : randint(low, high, {20}, key)) CHECK((n >= low && n < high));
      });
    }
  }
  std::array<std::uint32_t, 8> words{};
  random_words(key, ~std::uint64_t{3}, words);  // the last four, and then the first
  const auto last = random_words(key, ~std::uint64_t{0} / 4), first = random_words(key, std::uint64_t{0});
  CHECK(std::equal(last.begin(), last.end(), words.begin()));
  CHECK(std::equal(first.begin(), first.end(), words.begin() + 4));
}

TEST_CASE("extreme numbers: a parallel loop of any length covers it, and nothing else") {
  for (const std::int64_t count : numbers) {
    for (const std::int64_t grain : numbers) {
      if (count > 4 && (grain < 1 || count / grain > 4)) continue;  // too many blocks
      CAPTURE(count);
      CAPTURE(grain);
      std::atomic<std::int64_t> total{0}, calls{0};
      parallel_for(count, grain, [&](std::int64_t begin, std::int64_t end) {
        if (begin < 0 || begin >= end || end > count) ++calls;  // so that the counts differ
        total += end - begin;
        ++calls;
      });
      const std::int64_t stretch = std::max<std::int64_t>(grain, 1), expected = std::max<std::int64_t>(count, 0);
      CHECK(total == expected);
      CHECK(calls == (expected == 0 ? 0 : (expected - 1) / stretch + 1));
    }
  }
  const int before = threads();
  for (const int count : small_numbers) accepts(count >= 1 && count <= 1024, [&] { set_threads(count); });
  set_threads(before);
}

TEST_CASE("extreme numbers: axes") {
  for (const Shape& shape : {Shape{3, 4}, Shape{0, 4}, Shape{3, 0}, Shape{1, 1}, Shape{}}) {
    const Tensor x = counted(shape);
    const int rank = x.rank();
    const Index none(Shape{0});
    const Mask mask(shape, true);
    for (const int axis : small_numbers) {
      CAPTURE(axis);
      CAPTURE(rank);
      const bool legal = axis >= -rank && axis < rank, inserts = axis >= -rank - 1 && axis <= rank;
      const bool of_scalar = rank == 0 && (axis == 0 || axis == -1);  // where an axis is gone over, as in PyTorch
      accepts(legal, [&] { (void)x.dim(axis); });
      accepts(legal, [&] {
        const int from_start = normalize_axis("test", axis, rank);
        CHECK(from_start == (axis < 0 ? axis + rank : axis));
      });
      accepts(inserts, [&] { with_gradients(unsqueeze(x, axis), x); });
      accepts(inserts, [&] { with_gradients(stack({x, x}, axis), x); });
      struct Call {
        const char* name;
        std::function<Tensor()> f;
        bool goes_over = false;  // the axis, which a scalar may then have
        bool picks = false;      // element 0, which there has to be
      };
      const Call calls[] = {
          {"softmax", [&] { return softmax(x, axis); }, true},
          {"log_softmax", [&] { return log_softmax(x, axis); }, true},
          {"sum", [&] { return sum(x, axis); }, true},
          {"prod", [&] { return prod(x, axis); }, true},
          {"logsumexp", [&] { return logsumexp(x, axis); }, true},
          {"cumsum", [&] { return cumsum(x, axis); }, true},
          {"sort", [&] { return sort(x, axis).values; }, true},
          {"topk", [&] { return topk(x, 0, axis).values; }, true},
          {"argsort", [&] { return Tensor(to_real(argsort(x, axis))); }, true},
          {"flip", [&] { return flip(x, {axis}); }},
          {"roll", [&] { return roll(x, 1, axis); }},
          {"transpose", [&] { return transpose(x, axis, -1); }},
          {"concat", [&] { return concat({x, x}, axis); }},
          {"narrow", [&] { return narrow(x, axis, 0, 0); }},
          {"chunk", [&] { return chunk(x, 1, axis)[0]; }},
          {"repeat_interleave", [&] { return repeat_interleave(x, 2, axis); }},
          {"index_select", [&] { return index_select(x, axis, none); }},
          {"index_select of a mask", [&] { return Tensor(to_real(index_select(mask, axis, none))); }},
          {"gather", [&] { return gather(x, axis, Index(shape, 0)); }, false, true},
          {"scatter_add", [&] { return scatter_add(x, axis, Index(shape, 0), x); }, false, true},
      };
      for (const Call& call : calls) {
        CAPTURE(std::string(call.name));
        if (call.picks && x.size() == 0 && shape[0] > 0) continue;
        accepts(legal || (of_scalar && call.goes_over), [&] { with_gradients(call.f(), x); });
      }
      const bool something = of_scalar || (legal && x.shape()[axis < 0 ? axis + rank : axis] > 0);
      accepts(something, [&] { with_gradients(mean(x, axis), x); });
      accepts(something, [&] { with_gradients(max(x, Axes{axis}), x); });
      accepts(something, [&] { with_gradients(min(x, Axes{axis}), x); });
      accepts(something, [&] { argmax(x, axis); });
      accepts(something, [&] { argmin(x, axis); });
      survives([&] { with_gradients(var(x, axis, {.correction = 0}), x); });
      survives([&] { with_gradients(squeeze(x, {axis}), x); });
      for (const int other : small_numbers) {
        CAPTURE(other);
        const bool both = legal && other >= -rank && other < rank;
        const bool different = both && (axis < 0 ? axis + rank : axis) != (other < 0 ? other + rank : other);
        accepts(both, [&] { with_gradients(transpose(x, axis, other), x); });
        accepts(different, [&] { with_gradients(sum(x, {axis, other}), x); });
        accepts(different, [&] { with_gradients(flip(x, {axis, other}), x); });
        accepts(different && rank == 2, [&] { with_gradients(permute(x, {axis, other}), x); });
        survives([&] { with_gradients(flatten(x, axis, other), x); });
        survives([&] { with_gradients(tensordot(x, x, Axes{axis}, Axes{other}), x); });
      }
      survives([&] { with_gradients(tensordot(x, x, axis), x); });
    }
  }
}

TEST_CASE("extreme numbers: places in an array") {
  for (const Shape& shape : shapes) {
    const Tensor x = counted(shape);
    const std::int64_t size = shape[1];
    for (const std::int64_t n : numbers) {
      CAPTURE(n);
      const bool place = n >= -size && n < size;
      accepts(place, [&] { with_gradients(x[{_, n}], x); });
      accepts(place && shape[0] > 0, [&] {
        const Real value = x.value().at({0, n});
        CHECK(value == modulo(n, size));
      });
      accepts(place, [&] { with_gradients(index_select(x, 1, index({n})), x); });
      accepts(n >= 0 && n < shape[0], [&] { with_gradients(embedding(x, index({n})), x); });
      accepts(n >= -shape[0] && n < shape[0],
              [&] { with_gradients(embedding(x, Index(Shape{0}), {.padding_idx = n}), x); });
      accepts(place || shape[0] == 0, [&] { with_gradients(gather(x, 1, Index(Shape{shape[0], 1}, n)), x); });
      accepts(n >= 0 && n <= size, [&] { with_gradients(topk(x, n).values, x); });
      accepts((n >= 0 && n <= size) || shape[0] == 0,
              [&] { with_gradients(masked_softmax(x, Index(Shape{shape[0]}, n)), x); });
      const bool samples = shape[0] > 0;  // a mean of no samples throws
      accepts(n >= 0 && n < size && samples,
              [&] { with_gradients(cross_entropy(x, Index(Shape{shape[0]}, n)), x); });
      accepts((size > 0 || n == 0) && samples, [&] {  // all may be ignored
        const Index targets(Shape{shape[0]}, std::max<std::int64_t>(size - 1, 0));
        const Tensor loss = with_gradients(cross_entropy(x, targets, {.ignore_index = n}), x);
        if (n == size - 1) CHECK(loss.item() == 0);
      });
      for (const std::int64_t m : numbers) {
        CAPTURE(m);
        accepts(n >= 0 && m >= 0 && Wide{n} + m <= size, [&] {
          const Tensor part = with_gradients(narrow(x, 1, n, m), x);
          CHECK(part.shape() == Shape{shape[0], m});
        });
        accepts(n >= 0 && m >= 0 && Wide{n} + m == size, [&] {
          const Tensors parts = split(x, {n, m}, 1);
          CHECK(parts.size() == 2);
        });
        for (const std::int64_t step : numbers) {
          CAPTURE(step);
          std::vector<std::int64_t> expected;  // as Python's slice.indices counts
          if (step != 0) {
            const Wide lowest = step > 0 ? 0 : -1, highest = step > 0 ? size : size - 1;
            const auto bound = [&](std::int64_t at) {
              return std::clamp<Wide>(at < 0 ? Wide{at} + size : Wide{at}, lowest, highest);
            };
            for (Wide i = bound(n); step > 0 ? i < bound(m) : i > bound(m); i += step) {
              expected.push_back(static_cast<std::int64_t>(i));
            }
          }
          accepts(step != 0, [&] {
            const Tensor part = x[{_, slice(n, m, step)}];
            REQUIRE(part.dim(1) == static_cast<std::int64_t>(expected.size()));
            if (shape[0] == 0) return;
            for (std::size_t i = 0; i < expected.size(); ++i) {
              CHECK(part.value().data()[i] == expected[i]);
            }
          });
        }
      }
    }
    for (const std::int64_t step : {least, least + 1, std::int64_t{-1}, std::int64_t{1}, most}) {
      with_gradients(x[{_, slice(none, none, step)}], x);
    }
  }
  const Tensor row = variable(Array({3}, {1, 2, 3}));
  CHECK_REFUSED(ValueError, row[{std::size_t{0} - 1}], "slice", std::to_string(std::size_t{0} - 1));
  CHECK_REFUSED(ValueError, row[{slice(0, std::uint64_t{1} << 63)}], "slice", "9223372036854775808");
}

TEST_CASE("extreme numbers: place, pad and what repeats") {
  const MemoryLimit limit;
  const Tensor x = counted({2, 3});
  for (const Shape& shape : shapes) {
    const Tensor any = counted(shape);
    for (const std::int64_t n : sizes()) {
      CAPTURE(n);
      const std::int64_t other = std::max<std::int64_t>(shape[0], 1);
      accepts(n >= 0 && Wide{shape[1]} * n * other < Wide{1} << 59, [&] {
        const Tensor y = with_gradients(repeat_interleave(any, n, 1), any);
        CHECK(y.shape() == Shape{shape[0], shape[1] * n});
      });
      accepts(n >= 0 && Wide{shape[1]} * n * other < Wide{1} << 59, [&] {
        const Tensor y = with_gradients(tile(any, {n}), any);
        CHECK(y.shape() == Shape{shape[0], shape[1] * n});
      });
      survives([&] { with_gradients(tile(any, {n, 1, 1}), any); });
      survives([&] { with_gradients(tile(any, {n, n}), any); });
      survives([&] { with_gradients(reshape(any, {n, -1}), any); });
      survives([&] { with_gradients(reshape(any, {n, 4}), any); });
      survives([&] { with_gradients(broadcast_to(any, {n, n, -1, -1}), any); });
      survives([&] { with_gradients(broadcast_to(any, {n, n}), any); });
      survives([&] { with_gradients(sum_to(any, {n}), any); });
      survives([&] { with_gradients(sum_to(any, {n, n}), any); });
      survives([&] { with_gradients(layer_norm(any, {}, {}, {.normalized = {n}}), any); });
      survives([&] { with_gradients(layer_norm(any, {}, {}, {.normalized = {n, n}}), any); });
      accepts(n == 1 || (n >= 1 && (shape[1] > 0 || n <= 1 << 24)), [&] {
        const Tensors parts = chunk(any, n, 1);
        std::int64_t total = 0;
        for (const Tensor& part : parts) total += part.dim(1);
        CHECK(total == shape[1]);
      });
      for (const std::int64_t m : sizes()) {
        CAPTURE(m);
        accepts(n >= 0 && m >= 0 && (Wide{n} + m + shape[1]) * other < Wide{1} << 59, [&] {
          const Tensor y = with_gradients(pad(any, {{0, 0}, {n, m}}), any);
          CHECK(y.shape() == Shape{shape[0], n + m + shape[1]});
        });
        survives([&] { with_gradients(pad(any, {{n, 1}, {m, 1}}), any); });
        survives([&] { with_gradients(place(x, {n, slice(m, none)}, {n, m}), x); });
        survives([&] { with_gradients(place(x, {_, slice(0, 3)}, {n, m}), x); });
        survives([&] { with_gradients(place(x, {slice(n, m), _}, {n, 3}), x); });
        survives([&] { with_gradients(place(x, {n, _, slice(0, 3)}, {m, 2, n}), x); });
        survives([&] { with_gradients(place(x, {slice(0, 2), slice(n, none, m)}, {2, n}), x); });
      }
    }
  }
}

TEST_CASE("extreme numbers: rolls and triangles") {
  for (const Shape& shape : shapes) {
    const Tensor x = counted(shape);
    const std::int64_t rows = shape[0], columns = shape[1];
    const auto holds = [&](const Array& y, const auto& expected) {
      for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < columns; ++j) CHECK(y.at({i, j}) == expected(i, j));
      }
    };
    for (const std::int64_t n : numbers) {
      CAPTURE(n);
      holds(with_gradients(roll(x, n, 1), x).value(), [&](std::int64_t i, std::int64_t j) {
        return x.value().at({i, modulo(Wide{j} - n, columns)});
      });
      if (x.size() > 0) {
        const Tensor weights = to_real(arange(x.size()));
        const Tensor rolled = grad(sum(roll(x, n, 1) * reshape(weights, shape)), {x})[0];
        holds(rolled.value(), [&](std::int64_t i, std::int64_t j) {
          return static_cast<Real>(i * columns + modulo(Wide{j} + n, columns));
        });
      }
      for (const std::int64_t m : numbers) {
        CAPTURE(m);
        holds(with_gradients(roll(x, {n, m, n}, {0, 1, 1}), x).value(), [&](std::int64_t i, std::int64_t j) {
          return x.value().at({modulo(Wide{i} - n, rows), modulo(Wide{j} - m - n, columns)});
        });
      }
      holds(with_gradients(tril(x, n), x).value(), [&](std::int64_t i, std::int64_t j) {
        return Wide{j} <= Wide{i} + n ? x.value().at({i, j}) : 0;
      });
      holds(with_gradients(triu(x, n), x).value(), [&](std::int64_t i, std::int64_t j) {
        return Wide{j} >= Wide{i} + n ? x.value().at({i, j}) : 0;
      });
      const Mask lower = tril(Mask(shape, true), n), upper = triu(Mask(shape, true), n);
      holds(to_real(lower).value(), [&](std::int64_t i, std::int64_t j) { return Wide{j} <= Wide{i} + n; });
      holds(to_real(upper).value(), [&](std::int64_t i, std::int64_t j) { return Wide{j} >= Wide{i} + n; });
    }
  }
}

TEST_CASE("extreme numbers: joins, lengths and comparisons") {
  const Tensor x = variable(normal({2, 3, 4})), weight = variable(normal({4, 1})), h = variable(normal({2, 1})),
               c = variable(normal({2, 1}));
  for (const std::int64_t n : numbers) {
    CAPTURE(n);
    accepts(n >= 1 && n <= 3, [&] {
      const Recurrence y = lstm(x, weight, h, c, {.lengths = index({n, 3})});
      CHECK(y.output.shape() == Shape{2, 3, 1});
    });
    for (const std::int64_t m : numbers) {
      CHECK((index({n}) < m).item() == (n < m));
      CHECK((index({n}) >= index({m})).item() == (n >= m));
      CHECK((index({n}) == m).item() == (n == m));
    }
  }
  // Sizes that no single array exceeds, but their sum.
  const Array wide(Shape{0, std::int64_t{1} << 58});
  CHECK_REFUSED(LimitError, concat(std::vector<Array>(40, wide), 1), "concat");
  error_of<LimitError>([&] { concat(std::vector<Array>(3, wide), 1); });
  error_of<LimitError>([&] {
    matmul(Tensor(zeros({std::int64_t{1} << 40, 0})), Tensor(zeros({0, std::int64_t{1} << 40})));
  });
}

#ifdef XGRAD_MEMORY_UNLIMITED
// These refuse some numbers and take others: only a sanitizer sees what goes wrong.
TEST_CASE("extreme numbers: windows of pooling, and sizes of images") {
  const Tensor x = counted({2, 3, 4});
  const MemoryLimit limit;
  for (const std::int64_t n : numbers) {
    CAPTURE(n);
    survives([&] { with_gradients(max_pool2d(x, {n, 2}), x); });
    survives([&] { with_gradients(avg_pool2d(x, {2, n}), x); });
    for (const std::int64_t m : numbers) {
      survives([&] { with_gradients(max_pool1d(x, 2, {.stride = n, .padding = m}), x); });
      survives([&] { with_gradients(max_pool1d(x, n, {.padding = m, .ceil_mode = true}), x); });
      survives([&] { with_gradients(avg_pool1d(x, n, {.stride = m, .padding = 1}), x); });
    }
  }
  for (const std::int64_t n : sizes()) {
    CAPTURE(n);
    survives([&] { with_gradients(adaptive_avg_pool2d(x, {n, 2}), x); });
    survives([&] { with_gradients(adaptive_avg_pool1d(x, n), x); });
    survives([&] { with_gradients(interpolate(reshape(x, {1, 2, 3, 4}), {.size = Size2d{n, 2}}), x); });
  }
  for (const double factor : {1e-300, 0.25, 1e300, -1.0, std::numeric_limits<double>::infinity()}) {
    survives([&] { interpolate(reshape(x, {1, 2, 3, 4}), {.scale_factor = Scale2d{factor}}); });
  }
}

TEST_CASE("extreme numbers: drawing a graph") {
  const Tensor x = variable(Array({2}, {1, 2}), "x");
  for (const int depth : small_numbers) survives([&] { GraphView::of({x * x}, {.depth = depth}); });
  for (const std::int64_t n : numbers) survives([&] { GraphView::of({x * x}, {.max_nodes = n}); });
}
#endif

}  // namespace
}  // namespace xgrad::testing
