// Neighbours, principal axes and pictures of vectors.
#include <doctest/doctest.h>

#include <cmath>

#include <xgrad/core/array/random.h>
#include <xgrad/kit/draw/vectors.h>
#include <xgrad/ops/ops.h>

#include "support.h"

namespace xgrad::kit::testing {
namespace {

TEST_CASE("the nearest rows are those at the smallest angle, whatever their length") {
  const Array table({5, 2}, {1, 0, 0, 1, 10, 1, -1, 0, 0, 0});
  const std::vector<Neighbour> near = nearest_rows(table, 0, 9);
  REQUIRE(near.size() == 3);
  CHECK(near[0].row == 2);
  CHECK(near[0].cosine == doctest::Approx(10 / std::sqrt(101.0)));
  CHECK(near[1].row == 1);
  CHECK(near[1].cosine == 0);
  CHECK(near[2].cosine == doctest::Approx(-1));
  CHECK(nearest_rows(table, 0, 1).size() == 1);
  CHECK(nearest_rows(table, 4, 3).empty());
  for (const std::int64_t row : {-1, 5}) CHECK_THROWS_AS(nearest_rows(table, row, 1), ValueError);
  CHECK_THROWS_AS(nearest_rows(Array({3}, 1), 0, 1), ShapeError);
}

TEST_CASE("principal axes find the directions in which points are spread") {
  // Spread 3, 1 and 0.1 along three axes that are turned by known angles in space, around a centre.
  const double a = 0.7, b = 0.4;
  const Tensor axes = tensor({{std::cos(a) * std::cos(b), std::sin(a) * std::cos(b), std::sin(b)},
                              {-std::sin(a), std::cos(a), 0},
                              {-std::cos(a) * std::sin(b), -std::sin(a) * std::sin(b), std::cos(b)}});
  const std::vector<double> spread{3, 1, 0.1};
  const Tensor made = random_normal({400, 3}, {.seed = 1}) * tensor({3, 1, 0.1});
  const Array points = (matmul(made, axes) + 5).value();
  const Tensor places = principal_axes(points, 2);
  CHECK(places.shape() == Shape{400, 2});
  for (std::int64_t k = 0; k < 2; ++k) {
    // Up to the accident of a sample, the places are the coordinates they were made from.
    const Tensor place = places[{_, k}], wanted = made[{_, k}] - mean(made[{_, k}]);
    CHECK(std::abs(mean(place).item()) < 1e-4);
    CHECK(abs(sum(place * wanted) / sqrt(sum(square(place)) * sum(square(wanted)))).item() > 0.995);
    CHECK(sqrt(mean(square(place))).item() == doctest::Approx(spread[static_cast<std::size_t>(k)]).epsilon(0.1));
  }
  for (const std::int64_t axes : {1, 3}) CHECK(principal_axes(points, axes).shape() == Shape{400, axes});
  CHECK_THROWS_AS(principal_axes(Array(Shape{0, 2}), 1), ValueError);
  CHECK(equal(principal_axes(Array({1, 2}, 7), 2), Array({1, 2}, 0)));
  CHECK_THROWS_AS(principal_axes(points, 4), ValueError);
  CHECK_THROWS_AS(principal_axes(points, 0), ValueError);
  CHECK_REFUSED(ShapeError, principal_axes(Array({3}, 1), 1), "principal_axes", "(N, d), got [3]");
  for (const Real x : principal_axes(Array({3, 2}, 7), 2)) CHECK(std::abs(x) < 1e-6);
}

TEST_CASE("a map of words is well-formed and names every word") {
  const std::vector<std::string> words{"he", "<unk>", "j'ai"};
  const std::string svg = word_map_svg("a & b", words, Array({3, 2}, {0, 0, 1, 2, 3, 1}));
  check_svg(svg, 3, {"<circle"});
  check_svg(svg, 1, {"&lt;unk&gt;", "@media"});
  CHECK(word_map_svg("a & b", words, Array({3, 2}, {8, -8, 9, -6, 11, -7})) == svg);  // places among each other count
  const std::string heap = word_map_svg("", std::vector<std::string>(100, "word"), Array({100, 2}, 0));
  CHECK(attributes(heap, "text", "x").back() == doctest::Approx(404 + 0.85 * text_width("word", 13) / 2));
  check_svg(word_map_svg("one", std::vector<std::string>{"a"}, Array({1, 2}, 0)));
  CHECK_THROWS_AS(word_map_svg("", words, Array({2, 2}, 0)), ShapeError);
}

TEST_CASE("no word of a map lies on another, and distances are true") {
  std::vector<std::string> words;
  Array places(Shape{24, 2});
  for (std::int64_t i = 0; i < 24; ++i) {  // two heaps of twelve words each, far apart
    words.push_back(str("word", i));
    places.mutable_data()[2 * i] = static_cast<Real>((i % 2) * 3 + 0.01 * std::sin(i));
    places.mutable_data()[2 * i + 1] = static_cast<Real>((i % 2) * 2 + 0.01 * std::cos(3 * i));
  }
  const std::string svg = word_map_svg("", words, places);
  const std::vector<double> x = attributes(svg, "text", "x"), y = attributes(svg, "text", "y");
  REQUIRE(x.size() == 24);
  for (std::size_t i = 0; i < 24; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double widths = 0.85 * (text_width(words[i], 13) + text_width(words[j], 13));
      CHECK((std::abs(x[i] - x[j]) >= widths / 2 - 0.1 || std::abs(y[i] - y[j]) >= 12.9));
    }
  }
  CHECK(count_of("<line", svg) > 0);  // from words that stand aside
  const std::vector<double> cx = attributes(svg, "circle", "cx"), cy = attributes(svg, "circle", "cy");
  const double dx = static_cast<double>(places.at({1, 0}) - places.at({0, 0}));
  const double dy = static_cast<double>(places.at({1, 1}) - places.at({0, 1}));
  CHECK((cx[1] - cx[0]) / dx == doctest::Approx((cy[0] - cy[1]) / dy).epsilon(1e-3));
}

}  // namespace
}  // namespace xgrad::kit::testing
