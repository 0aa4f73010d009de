// Tests of core/diagram/view/labels.h: which numbers are cells, which a histogram, and how large both are.
#include <xgrad/core/diagram/view/labels.h>

#include "core/diagram/diagrams.h"

namespace xgrad::testing {
namespace {

using detail::NumberPicture;

NumberPicture picture(const Array& numbers) { return detail::picture_of(summary_of(numbers)); }

TEST_CASE("matrices up to 4 x 4 are cells with digits, up to 8 x 8 without, and larger arrays histograms") {
  struct Row {
    NumberPicture::Kind kind;
    bool digits;
    std::vector<Shape> shapes;
  };
  for (const Row& row : {Row{NumberPicture::cells, true, {{2, 2}, {4, 4}, {3}, {1, 1, 2, 3}, {3, 1}}},
                         Row{NumberPicture::cells, false, {{8}, {5, 4}, {8, 8}, {1, 8, 8}}},
                         Row{NumberPicture::bars, false, {{9}, {9, 2}, {2, 3, 3}, {100, 100}}}}) {
    for (const Shape& shape : row.shapes) {
      INFO(shape);
      CHECK(picture(normal(shape)).kind == row.kind);
      CHECK(picture(normal(shape)).has_digits == row.digits);
    }
  }
  CHECK(picture(normal({4, 3})).rows == 4);
  CHECK(picture(normal({4, 3})).columns == 3);
  for (const Array& numbers : {Array(Shape{}, Real(3)), Array(Shape{100}, Real(3)), Array(Shape{100}, not_a_number),
                               Array(Shape{0})}) {
    CHECK(picture(numbers).kind == NumberPicture::none);
  }
}

TEST_CASE("boxes of matrices are at most 292 pixels wide, of summaries 180") {
  for (const double factor : {1e-6, 0.001, 0.03, 1.0, 30.0, 4000.0, 1e9}) {
    for (const Shape& shape : {Shape{4, 4}, Shape{8}, Shape{8, 8}, Shape{2, 8}, Shape{9}, Shape{50, 50}}) {
      Array numbers = normal(shape);
      for (std::int64_t i = 0; i < numbers.size(); ++i) numbers.mutable_data()[i] *= Real(factor);
      for (const bool is_input : {false, true}) {
        GraphVertex vertex{
            .role = is_input ? GraphRole::input : GraphRole::parameter, .op = {}};
        vertex.record.value = vertex.record.gradient = shared_summary_of(numbers);
        const bool is_matrix = picture(numbers).kind == NumberPicture::cells;
        INFO(shape, ' ', factor);
        CHECK(detail::size_of_vertex(vertex, {}).width <= (is_matrix ? 292 : is_input ? 216 : 180));
      }
    }
  }
}

TEST_CASE("the corners of a matrix lie inside the ellipse of an input") {
  for (const Shape& shape : {Shape{4, 4}, Shape{8, 8}, Shape{2, 8}}) {
    GraphVertex vertex{.role = GraphRole::parameter, .op = {}};
    vertex.record.value = shared_summary_of(normal(shape));
    const detail::LabelSize box = detail::size_of_vertex(vertex, {});  // with margins of 9 at the sides, 9 in height
    vertex.role = GraphRole::input;
    const detail::LabelSize ellipse = detail::size_of_vertex(vertex, {});
    const double x = (box.width - 18) / ellipse.width, y = (box.height - 9) / ellipse.height;
    INFO(shape);
    CHECK(x * x + y * y <= 1);
  }
}

TEST_CASE("every line of an input ends inside its ellipse, also where the last is the widest") {
  GraphVertex vertex{.role = GraphRole::input, .op = {}, .name = "x", .shape = Shape{4, 8}};
  vertex.text.remarks = {"short", "where the keys are, seen from the queries"};
  const detail::LabelSize ellipse = detail::size_of_vertex(vertex, {});
  const auto lines = detail::label_of(vertex, {});
  double height = 0;
  for (const detail::LabelLine& line : lines) height += detail::line_height(line);
  double top = -height / 2;
  for (const detail::LabelLine& line : lines) {
    const double bottom = top + detail::line_height(line), middle = (top + bottom) / 2;
    const double x = detail::line_width(line) / ellipse.width, y = 2 * middle / ellipse.height;
    INFO(detail::line_width(line), " in ", ellipse.width);
    CHECK(x * x + y * y < 0.97);
    top = bottom;
  }
}

TEST_CASE("cells have two decimals about 1, none for integers, and no sign of zero") {
  CHECK(detail::cell_text(-0.534, 2) == "-0.53");
  CHECK(detail::cell_text(-0.001, 2) == "0.00");
  CHECK(detail::cell_text(-not_a_number, 2) == "nan");
  CHECK(detail::cell_text(not_a_number, 2) == "nan");
  CHECK(detail::cell_text(-infinity, 0) == "-\u221E");
  const auto decimals = [](Real first, Real second) { return picture(Array(Shape{2}, {first, second})).decimals; };
  CHECK(decimals(1.5, -9) == 2);
  CHECK(decimals(15.5, -9) == 1);
  CHECK(decimals(0.02, 0.031) == 3);
  CHECK(decimals(400, 7) == 0);
  CHECK(decimals(400.5, 7) == 0);
}

TEST_CASE("in short there are the mean and the standard deviation, as far as their digits count, and NaN is nan") {
  const auto said = [](const Array& numbers) { return detail::in_short(summary_of(numbers)); };
  CHECK(said(Array(Shape{}, Real(0.25))) == "0.25");
  CHECK(said(Array(Shape{}, -not_a_number)) == "nan");
  CHECK(said(Array(Shape{20}, Real(1))) == "all 1");
  Array spread(Shape{100});
  for (std::int64_t i = 0; i < 100; ++i) spread.mutable_data()[i] = Real(i % 2 ? 0.5001 : -0.5);
  CHECK(said(spread) == "0 \u00B1 0.5");
  spread.mutable_data()[0] = not_a_number;
  CHECK(said(spread) == "0.01 \u00B1 0.5, 1 NaN");
  CHECK(said(Array(Shape{20}, not_a_number)) == "20 NaN");
  for (const Real unit : {std::numeric_limits<Real>::max() / 300, std::numeric_limits<Real>::min(), Real(1)}) {
    for (std::int64_t i = 0; i < 100; ++i) spread.mutable_data()[i] = (i % 2 ? 3 : 1) * unit;
    CHECK(said(spread) == str(detail::rounded(2 * static_cast<double>(unit), 2), " \u00B1 ",
                              detail::rounded(static_cast<double>(unit), 2)));
  }
  CHECK(to_string(summary_of(Array(Shape{2}, -not_a_number))) == "[nan, nan]");
}

}  // namespace
}  // namespace xgrad::testing
