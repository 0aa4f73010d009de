// Positions.
#include "../support.h"

#include <cmath>

#include <xgrad/nn/layers/positions.h>
#include <xgrad/ops/arrange/shape.h>

namespace xgrad::testing {
namespace {

using namespace nn;

TEST_CASE("Interleaved sinusoids are sin(i / 10000^(2j/C)) and cos of the same, side by side") {
  const Array p = sinusoids(60, 32);
  CHECK(p.shape() == Shape{60, 32});
  for (const int i : {0, 1, 7, 59}) {
    for (const int j : {0, 3, 15}) {
      CHECK(p.at({i, 2 * j}) == doctest::Approx(std::sin(i / std::pow(10000.0, 2 * j / 32.0))).epsilon(1e-12));
      CHECK(p.at({i, 2 * j + 1}) == doctest::Approx(std::cos(i / std::pow(10000.0, 2 * j / 32.0))).epsilon(1e-12));
    }
  }
}

TEST_CASE("Concatenated sinusoids are the same numbers, sines first") {
  const Array p = sinusoids(20, 8), q = sinusoids(20, 8, Sinusoids::concatenated);
  for (int i = 0; i < 20; ++i) {
    for (int j = 0; j < 4; ++j) {
      CHECK(q.at({i, j}) == p.at({i, 2 * j}));
      CHECK(q.at({i, 4 + j}) == p.at({i, 2 * j + 1}));
    }
  }
  CHECK(sinusoids(3, 5).at({2, 4}) == doctest::Approx(std::sin(2 / std::pow(10000.0, 4 / 5.0))));
  CHECK(sinusoids(3, 5, Sinusoids::concatenated).at({2, 3}) == doctest::Approx(std::cos(2.0)));
}

TEST_CASE("Shifting by delta is a rotation of each pair by an angle that delta alone decides") {
  const int C = 16;
  const Array p = sinusoids(100, C);
  for (const int delta : {1, 5, 37}) {
    for (int j = 0; j < C / 2; ++j) {
      const double angle = delta / std::pow(10000.0, 2.0 * j / C), c = std::cos(angle), s = std::sin(angle);
      for (const int i : {0, 1, 20, 62}) {
        const double sine = p.at({i, 2 * j}), cosine = p.at({i, 2 * j + 1});
        CHECK(p.at({i + delta, 2 * j}) == doctest::Approx(c * sine + s * cosine).epsilon(1e-10));
        CHECK(p.at({i + delta, 2 * j + 1}) == doctest::Approx(-s * sine + c * cosine).epsilon(1e-10));
      }
    }
  }
}

TEST_CASE("Positions are added from the place on where the sequence is") {
  const SinusoidalPositions fixed{root, 6, {.max_length = 10}};
  const LearnedPositions learned{root, 10, 6};
  const Tensor zero(Array({2, 4, 6}, Real(0)));
  for (const std::int64_t first : {0, 3, 6}) {
    const Array a = fixed(zero, first).value(), b = learned(zero, first).value();
    for (const std::int64_t row : {0, 1}) {
      for (const std::int64_t t : {0, 3}) {
        CHECK(a.at({row, t, 5}) == fixed.table.at({first + t, 5}));
        CHECK(b.at({row, t, 2}) == learned.weight.value().at({first + t, 2}));
      }
    }
  }
  CHECK(fixed.num_parameters() == 0);
  CHECK(learned.num_parameters() == 60);
  CHECK(error_of<ValueError>([&] { fixed(zero, 7); }) == "positions: 4 positions from 7 on, of 10");
  CHECK(error_of<ShapeError>([&] {
          learned(Array({2, 4, 5}, Real(0)));
        }) == "positions: needs (..., T, 6), got [2, 4, 5]");
}

TEST_CASE("Positions drop in training") {
  const SinusoidalPositions layer{root, 8, {.dropout = 0.5}};
  const Tensor x(normal({2, 5, 8}));
  CHECK(!equal(layer(x).value(), layer(x).value()));
  const Eval eval(layer);
  CHECK(equal(layer(x).value(), layer(x).value()));
}

}  // namespace
}  // namespace xgrad::testing
