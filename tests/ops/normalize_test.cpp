// Softmax and its kin, layer norm, dropout: against formulas, composed forms and published values; extreme inputs.
#include <cmath>
#include <limits>

#include <xgrad/core/parallel.h>
#include <xgrad/ops/ops.h>

#include "support/check.h"

using namespace xgrad;
using namespace xgrad::testing;

namespace {

constexpr Real infinity = std::numeric_limits<Real>::infinity();
constexpr Real not_a_number = std::numeric_limits<Real>::quiet_NaN();

Tensor composed_softmax(const Tensor& x, int axis) {
  const Tensor e = exp(x - max(x.detach(), {.axis = axis, .keepdim = true}));
  return e / sum(e, {.axis = axis, .keepdim = true});
}
Tensor composed_layer_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta) {
  const Tensor d = x - mean(x, {.axis = -1, .keepdim = true});
  return d / sqrt(mean(square(d), {.axis = -1, .keepdim = true}) + 1e-5) * gamma + beta;
}

// Values and first gradients of both, and the gradients of the first once with and once without a graph of their own.
void check_equal(const Function& fused, const Function& composed, const std::vector<Array>& inputs) {
  Tensors xs;
  for (const Array& input : inputs) xs.push_back(variable(input));
  const Tensor y = fused(xs), z = composed(xs);
  check_close(y.value(), z.value());
  const Tensor v = normal(y.shape(), 99);
  const Tensors fast = grad(y, xs, {.seed = v, .retain_graph = true});
  const Tensors with_graph = grad(y, xs, {.seed = v, .create_graph = true});
  const Tensors expected = grad(z, xs, {.seed = v});
  for (std::size_t i = 0; i < xs.size(); ++i) {
    check_close(fast[i].value(), expected[i].value());
    check_close(with_graph[i].value(), expected[i].value());
  }
}

bool finite(const Tensor& x) {
  return std::ranges::all_of(x.value(), [](Real v) { return std::isfinite(v); });
}

// Around the width of every register: the last pack of a row is full or not.
const std::int64_t lengths_of_rows[] = {1, 2, 7, 8, 15, 16, 17, 33, 64, 65, 130};

}  // namespace

TEST_CASE("softmax and log_softmax equal their formulas along any axis, with gradients of any order") {
  for (const Shape& shape : {Shape{}, {1}, {7}, {3, 5}, {2, 1, 3}, {2, 3, 1, 2}, {2, 1, 2, 3, 2}, {0, 3}, {3, 0}}) {
    for (int axis = shape.empty() ? -1 : -shape.rank(); axis < std::max(shape.rank(), 1); ++axis) {
      CAPTURE(cat(shape, " axis ", axis));
      const Array x = normal(shape);
      const bool zero = shape.numel() == 0 || (shape.empty() ? 1 : shape.dim(axis)) == 1;
      const auto soft = [axis](const Tensors& in) { return softmax(in[0], axis); };
      const auto log_soft = [axis](const Tensors& in) { return log_softmax(in[0], axis); };
      CHECK(soft({x}).shape() == shape);
      check_gradients(soft, {x}, {.zero = zero});
      check_gradients(log_soft, {x}, {.zero = zero});
      if (shape.empty() || shape.numel() == 0) continue;
      const auto composed = [axis](const Tensors& in) { return composed_softmax(in[0], axis); };
      check_equal(soft, composed, {x});
      check_equal(log_soft, [&](const Tensors& in) { return log(composed(in)); }, {x});
    }
  }
  for (const std::int64_t n : lengths_of_rows) {
    CAPTURE(n);
    const Array x = normal({3, n});
    check_equal([](const Tensors& in) { return softmax(in[0]); },
                [](const Tensors& in) { return composed_softmax(in[0], -1); }, {x});
    check_equal([](const Tensors& in) { return log_softmax(in[0]); },
                [](const Tensors& in) { return log(composed_softmax(in[0], -1)); }, {x});
  }
  CHECK(softmax(Tensor(3)).item() == 1);
  CHECK(log_softmax(Tensor(3)).item() == 0);
  CHECK(error_of<ValueError>([] { softmax(Array({2, 3}, 0), 2); }) == "softmax: axis 2 is out of range for rank 2");
}

TEST_CASE("softmax of extreme logits is finite, log_softmax exact") {
  const Tensor large = softmax(tensor({1e30, -1e30, 1e30}));
  CHECK(equal(large.value(), Array({3}, {0.5, 0, 0.5})));
  CHECK(equal(softmax(tensor({-1e30, -1e30})).value(), Array({2}, {0.5, 0.5})));
  check_close(log_softmax(tensor({1000, 0})).value(), Array({2}, {0, -1000}));
  check_close(log_softmax(tensor({-1000, -1000})).value(), Array({2}, {-std::log(2.), -std::log(2.)}));

  CHECK(equal(softmax(Array({3}, -infinity)).value(), Array({3}, 0)));
  CHECK(equal(log_softmax(Array({3}, -infinity)).value(), Array({3}, -infinity)));
  CHECK(equal(softmax(tensor({0, -infinity, 0})).value(), Array({3}, {0.5, 0, 0.5})));
  CHECK(equal(softmax(tensor({infinity, 5, infinity, -infinity})).value(), Array({4}, {0.5, 0, 0.5, 0})));
  CHECK(equal(softmax(tensor({infinity, 5})).value(), Array({2}, {1, 0})));
  CHECK(equal(log_softmax(tensor({infinity, 5})).value(), Array({2}, {0, -infinity})));
  CHECK(std::isnan(softmax(tensor({1, not_a_number})).value().at({0})));
  CHECK(std::isnan(log_softmax(tensor({not_a_number, 1})).value().at({1})));

  for (const Real number : {infinity, -infinity, Real(1e30), Real(-1e30)}) {
    const Tensor x = variable(Array({2, 3}, number));
    CHECK(finite(grad(softmax(x), {x}, {.seed = ones({2, 3})})[0]));
    CHECK(finite(grad(log_softmax(x), {x}, {.seed = ones({2, 3})})[0]));
  }
}

TEST_CASE("masked softmax gives 0 past the length and sums to 1 before it") {
  const Tensor x = uniform({2, 2, 4}, 0, 1);
  const Tensor y = masked_softmax(x, index({2, 3}));
  check_close(sum(y, {.axis = -1}).value(), Array({2, 2}, 1));
  for (std::int64_t b = 0; b < 2; ++b) {
    for (std::int64_t t = 0; t < 2; ++t) {
      for (std::int64_t s = b + 2; s < 4; ++s) CHECK(y.value().at({b, t, s}) == 0);
    }
  }
  const Tensor z = masked_softmax(x, index({{1, 3}, {2, 4}}));
  CHECK(equal(Array(Shape{4}, std::span(z.value().data(), 4)), Array({4}, {1, 0, 0, 0})));
  check_close(sum(z, {.axis = -1}).value(), Array({2, 2}, 1));
  CHECK(z.value().at({1, 0, 2}) == 0);
  CHECK(z.value().at({1, 1, 3}) > 0);

  CHECK(
      equal(masked_softmax(x, index({0, 4})).value(), concat({zeros({1, 2, 4}), softmax(narrow(x, 0, 1, 1))}).value()));
  CHECK(masked_softmax(normal({3, 2, 5, 4}), index({1, 2, 3})).shape() == Shape{3, 2, 5, 4});
}

TEST_CASE("masked softmax has gradients of any order, 0 past the length") {
  const auto one = [](const Tensors& x) { return masked_softmax(x[0], index({2, 0, 3})); };
  check_gradients(one, {normal({3, 4})});
  check_gradients(one, {normal({3, 2, 4})});
  check_gradients(one, {normal({3, 2, 2, 17})});
  check_gradients(
      [](const Tensors& x) {
        return masked_softmax(x[0], index({{1, 3}, {0, 4}, {2, 2}}));
      },
      {normal({3, 3, 2, 4})});
  check_gradients([](const Tensors& x) { return masked_softmax(x[0], Index(Shape{0}, 0)); }, {Array({0, 3}, 0)},
                  {.zero = true});
  check_equal(one,
              [](const Tensors& x) {
                const Mask valid({3, 1, 4}, {1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0});
                return where(valid, softmax(where(valid, x[0], -infinity)), 0);
              },
              {normal({3, 2, 4})});
}

TEST_CASE("what stands in masked places reaches neither the result nor a gradient") {
  const Array numbers = normal({2, 3, 4});
  Array spoilt = numbers;
  for (std::int64_t row = 0; row < 6; ++row) {
    spoilt.mutable_data()[row * 4 + 3] = row % 2 ? not_a_number : infinity;
    if (row < 3) spoilt.mutable_data()[row * 4 + 2] = -infinity;
  }
  const Index lengths = index({2, 3});
  const Tensor x = variable(numbers), z = variable(spoilt);
  CHECK(equal(masked_softmax(x, lengths).value(), masked_softmax(z, lengths).value()));
  for (const bool create_graph : {false, true}) {
    const Tensor v = spoilt;  // infinities and NaN in the upstream gradient of masked places
    const Tensor w = normal({2, 3, 4});
    CHECK(finite(grad(masked_softmax(z, lengths), {z}, {.seed = v, .create_graph = create_graph})[0]));
    CHECK(equal(grad(masked_softmax(z, lengths), {z}, {.seed = w, .create_graph = create_graph})[0].value(),
                grad(masked_softmax(x, lengths), {x}, {.seed = w, .create_graph = create_graph})[0].value()));
  }
}

TEST_CASE("masked softmax refuses lengths that do not fit") {
  const auto refusal = [](const Shape& x, const Index& lengths) {
    return error_of<ShapeError>([&] { masked_softmax(Array(x, 0), lengths); });
  };
  const std::string tail = " fit neither the sequences nor the rows of ";
  CHECK(refusal({2, 3, 4}, index({1, 2, 3})) == "masked_softmax: lengths [3]" + tail + "[2, 3, 4]");
  CHECK(refusal({2, 3, 4}, index({{1, 2}, {1, 2}})) == "masked_softmax: lengths [2, 2]" + tail + "[2, 3, 4]");
  CHECK(refusal({2, 4}, Index({2, 1}, 1)) == "masked_softmax: lengths [2, 1]" + tail + "[2, 4]");
  CHECK(refusal({2, 4}, Index(Shape{}, 1)) == "masked_softmax: lengths []" + tail + "[2, 4]");
  CHECK(refusal({4}, index({1})) == "masked_softmax: needs sequences and entries, got [4]");
  CHECK(error_of<ValueError>([] {
          masked_softmax(Array({2, 4}, 0), index({1, 5}));
        }) == "masked_softmax: length 5 at position 1 not in [0, 4]");
  CHECK(error_of<ValueError>([] {
          masked_softmax(Array({2, 4}, 0), index({-1, 2}));
        }) == "masked_softmax: length -1 at position 0 not in [0, 4]");
}

TEST_CASE("layer norm equals its formula for rows of any length, with gradients of any order") {
  const auto fused = [](const Tensors& x) { return layer_norm(x[0], x[1], x[2]); };
  const auto composed = [](const Tensors& x) { return composed_layer_norm(x[0], x[1], x[2]); };
  for (const std::int64_t n : lengths_of_rows) {
    CAPTURE(n);
    check_equal(fused, composed, {normal({5, n}), normal({n}, 2), normal({n}, 3)});
    check_equal([](const Tensors& x) { return layer_norm(x[0]); },
                [](const Tensors& x) { return composed_layer_norm(x[0], 1, 0); }, {normal({5, n})});
  }
  check_equal(fused, composed, {normal({700, 33}), normal({33}, 2), normal({33}, 3)});  // more rows than one block
  for (const Shape& shape : {Shape{3}, {1, 3}, {4, 3}, {2, 1, 3}, {2, 2, 2, 3}, {1, 2, 1, 2, 3}}) {
    CAPTURE(cat(shape));
    check_gradients(fused, {normal(shape), normal({3}, 2), normal({3}, 3)});
  }
  check_gradients(fused, {Array(Shape{0, 3}), normal({3}), normal({3}, 2)}, {.zero = true});
  const Array x = normal({2, 3, 4});
  check_gradients([](const Tensors& in) { return layer_norm(in[0]); }, {x});
  check_gradients([](const Tensors& in) { return layer_norm(in[0], in[1]); }, {x, normal({4}, 2)});
  check_gradients([](const Tensors& in) { return layer_norm(in[0], {}, in[1]); }, {x, normal({4}, 2)});
  check_gradients(fused, {x, normal({3, 4}, 2), normal({3, 4}, 3)});
  check_gradients([](const Tensors& in) { return layer_norm(in[0], in[0], in[0]); }, {normal({5})});
  check_gradients([](const Tensors& in) { return transpose(layer_norm(transpose(in[0]), in[1], in[1])); },
                  {normal({4, 3}), normal({4}, 2)});
}

TEST_CASE("layer norm of two axes normalises over both") {
  const Tensor x = normal({2, 3, 4});
  const Tensor flat = layer_norm(reshape(x, {2, 12}));
  check_close(layer_norm(x, {}, {}, {.normalized = {3, 4}}).value(), reshape(flat, {2, 3, 4}).value());
  check_close(layer_norm(x, ones({3, 4}), zeros({3, 4})).value(), reshape(flat, {2, 3, 4}).value());
}

TEST_CASE("layer norm of the textbook's two rows") {
  check_close(layer_norm(tensor({{1, 2}, {2, 3}})).value(), Array({2, 2}, {-1, 1, -1, 1}), 1e-4);
  check_close(layer_norm(tensor({{1, 2}, {2, 3}}), {}, {}, {.eps = 0}).value(), Array({2, 2}, {-1, 1, -1, 1}));
}

TEST_CASE("layer norm is exact where the mean is large against the spread") {
  for (const std::int64_t n : {7, 16, 33, 130}) {
    CAPTURE(n);
    const Array small = uniform({3, n}, 0, 4096);
    Array whole = small, moved = small;  // whole numbers, so that moving them loses nothing
    for (std::int64_t i = 0; i < small.size(); ++i) {
      whole.mutable_data()[i] = std::floor(small.data()[i]);
      moved.mutable_data()[i] = whole.data()[i] + 0x1p52;
    }
    const Tensor x = variable(whole), z = variable(moved);
    check_close(layer_norm(z).value(), layer_norm(x).value(), 1e-10);
    const Tensor seed = normal({3, n});
    check_close(grad(layer_norm(z), {z}, {.seed = seed})[0].value(),
                grad(layer_norm(x), {x}, {.seed = seed})[0].value());
  }
  const Tensor constant = variable(Array({2, 5}, 1e6));
  CHECK(equal(layer_norm(constant).value(), Array({2, 5}, 0)));
  CHECK(finite(grad(layer_norm(constant), {constant}, {.seed = normal({2, 5})})[0]));
}

TEST_CASE("layer norm refuses what does not fit") {
  const Tensor x = zeros({2, 3});
  CHECK(error_of<ShapeError>([&] { layer_norm(x, ones({2})); }) == "layer_norm: [2, 3] does not end in [2]");
  CHECK(error_of<ShapeError>([&] { layer_norm(x, ones({3}), ones({2})); }) ==
        "layer_norm: beta [2] is not of shape [3]");
  CHECK(error_of<ShapeError>([&] { layer_norm(x, ones({2}), {}, {.normalized = {3}}); }) ==
        "layer_norm: gamma [2] is not of shape [3]");
  CHECK(error_of<ShapeError>([&] { layer_norm(zeros({2, 0})); }) == "layer_norm: nothing to normalise over in [2, 0]");
  CHECK(error_of<ShapeError>([&] { layer_norm(Tensor(1)); }) == "layer_norm: [] does not end in []");
  CHECK(error_of<ValueError>([&] { layer_norm(x, {}, {}, {.eps = -1}); }) == "layer_norm: eps -1 is negative");
}

TEST_CASE("dropout zeroes about the wanted share and keeps the mean") {
  const Tensor x = ones({100, 1000});
  for (const double p : {0.1, 0.5, 0.9}) {
    const Tensor y = dropout(x, p, {.seed = 3, .draw = 5});
    const auto zero = static_cast<double>(std::ranges::count(y.value(), Real(0)));
    CHECK(std::abs(zero / 1e5 - p) < 5e-3);  // more than three deviations
    CHECK(std::ranges::all_of(y.value(), [p](Real v) { return v == 0 || std::abs(v * (1 - p) - 1) < 1e-6; }));
  }
}

TEST_CASE("a dropout mask is a function of key and position alone") {
  const RandomKey key{.seed = 1, .draw = 2};
  const Tensor x = ones({123, 457});
  const Tensor y = dropout(x, 0.3, key);
  CHECK(equal(y.value(), dropout(x, 0.3, key).value()));
  CHECK(equal(flatten(y).value(), dropout(flatten(x), 0.3, key).value()));
  CHECK(equal(narrow(flatten(y), 0, 0, 1001).value(), dropout(ones({1001}), 0.3, key).value()));
  CHECK_FALSE(equal(y.value(), dropout(x, 0.3, {.seed = 1, .draw = 3}).value()));
  const int before = threads();
  set_threads(3);
  CHECK(equal(y.value(), dropout(x, 0.3, key).value()));
  set_threads(before);
  manual_seed(7);
  const Tensor first = dropout(x, 0.3), second = dropout(x, 0.3);
  CHECK_FALSE(equal(first.value(), second.value()));
  manual_seed(7);
  CHECK(equal(first.value(), dropout(x, 0.3).value()));
}

TEST_CASE("words of a draw in a row are the words one by one") {
  const RandomKey key{.seed = 0x123456789abcdef0, .draw = 0xfedcba9876543210};
  for (const std::uint64_t first :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{63}, std::uint64_t{0x3fffffff0}}) {
    std::array<std::uint32_t, 200> words;
    random_words(key, first, words);
    for (std::uint64_t i = 0; i < words.size(); ++i)
      CHECK(words[i] == random_words(key, (first + i) / 4)[(first + i) % 4]);
  }
}

TEST_CASE("dropout passes gradients of any order through its mask; p = 0 and p = 1 are no special trouble") {
  const RandomKey key{.seed = 1, .draw = 2};
  for (const Shape& shape : {Shape{33}, {3, 5}, {2, 3, 1, 2}, {0, 3}}) {
    const auto f = [&](const Tensors& x) { return dropout(x[0], 0.3, key) * x[0]; };
    check_gradients(f, {normal(shape)}, {.zero = shape.numel() == 0});
  }
  const Tensor x = variable(Array({4}, {1, not_a_number, infinity, 2}));
  CHECK(equal(dropout(x, 1, key).value(), Array({4}, 0)));
  CHECK(equal(grad(dropout(x, 1, key), {x}, {.seed = ones({4})})[0].value(), Array({4}, 0)));
  CHECK(dropout(x, 0, key).value().shares_memory_with(x.value()));
  check_gradients([&](const Tensors& in) { return dropout(in[0], 1, key); }, {normal({5})}, {.zero = true});
}

TEST_CASE("dropout refuses what is no probability") {
  const auto refusal = [](double p) { return error_of<ValueError>([&] { dropout(ones({2}), p, {}); }); };
  CHECK(refusal(-0.1) == "dropout: probability -0.1 not in [0, 1]");
  CHECK(refusal(1.5) == "dropout: probability 1.5 not in [0, 1]");
  CHECK(refusal(not_a_number) == "dropout: probability nan not in [0, 1]");
}

TEST_CASE("normalisations are the same bits for any number of threads") {
  const Tensor x = variable(normal({2000, 70})), gamma = variable(normal({70}, 2)), beta = variable(normal({70}, 3));
  const auto all = [&] {
    const Tensor y = layer_norm(softmax(x) + log_softmax(x), gamma, beta);
    Tensors parts{flatten(y)};
    for (const Tensor& g : grad(y, {x, gamma, beta}, {.seed = x.detach()})) parts.push_back(flatten(g));
    return concat(parts);
  };
  const int before = threads();
  set_threads(1);
  const Tensor one = all();
  set_threads(3);
  const Tensor three = all();
  set_threads(before);
  CHECK(equal(one.value(), three.value()));
}
