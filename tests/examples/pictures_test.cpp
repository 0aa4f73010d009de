// Pictures as PNG and in figures, and confusion matrices.
#include <doctest/doctest.h>

#include <cmath>

#include <xgrad/kit/draw/pictures.h>
#include <xgrad/kit/draw/png.h>

#include "support.h"

namespace xgrad::kit::testing {

TEST_CASE("a grey picture and one in colour as PNG") {
  const DecodedPng grey(png(Array({1, 2, 3}, {0, 0.2f, 0.4f, 0.6f, 1, 2})));
  CHECK(grey.image.width == 3);
  CHECK(grey.image.height == 2);
  CHECK(grey.image.format == PNG_FORMAT_GRAY);
  CHECK(grey.values == std::vector<png_byte>{0, 51, 102, 153, 255, 255});
  const DecodedPng coloured(png(Array({3, 1, 2}, {0, 1, 0.2f, 0.4f, -1, 0.6f})));
  CHECK(coloured.image.format == PNG_FORMAT_RGB);
  CHECK(coloured.values == std::vector<png_byte>{0, 51, 0, 255, 102, 153});
  const DecodedPng translucent(png(Array({4, 1, 1}, {1, 0.2f, 0, 0.4f})));
  CHECK(translucent.image.format == PNG_FORMAT_RGBA);
  CHECK(translucent.values == std::vector<png_byte>{255, 51, 0, 102});
  CHECK(png(Array({1, 1, 1}, 0)).ends_with("IEND\xAE\x42\x60\x82"));  // nothing follows the last part
  const std::string address = png_address(Array({1, 1, 1}, 0.5f));
  CHECK((address.size() - std::string_view("data:image/png;base64,").size()) % 4 == 0);
  // A picture of many rows, to which the filters of PNG are of use.
  const Array drawn = random_uniform({3, 40, 50}, {.seed = 1});
  const DecodedPng large(png(drawn));
  for (std::int64_t i = 0; i < drawn.size(); ++i) {
    CHECK(large.values[i % 2000 * 3 + i / 2000] == std::lround(255 * drawn.data()[i]));
  }
}

TEST_CASE("what is no picture is refused") {
  CHECK_REFUSED(ShapeError, png(Array(Shape{2, 2, 2}, 0)), "png", "(1, H, W), (3, H, W) or (4, H, W)", "1 to 16384",
                "[2, 2, 2]");
  CHECK_THROWS_AS(png(Array(Shape{2, 2}, 0)), ShapeError);
  CHECK_THROWS_AS(png(Array(Shape{1, 0, 2}, 0)), ShapeError);
  CHECK_REFUSED(ValueError, png(Array({1, 1, 1}, {std::nanf("")})), "png", "a value is not a number");
}

TEST_CASE("grids of pictures refuse captions, columns, widths and overlays that do not fit") {
  PictureGrid grid{.images = Array(Shape{3, 1, 4, 4}, 0.5f), .captions = {"one"}, .columns = 2};
  CHECK_REFUSED(ShapeError, picture_grid_svg(grid), "picture_grid_svg", "1 captions for pictures [3, 1, 4, 4]");
  grid.captions = {};
  grid.columns = 0;
  CHECK_REFUSED(ValueError, picture_grid_svg(grid), "picture_grid_svg", "no pictures, or no columns");
  grid.columns = 2;
  grid.width = 0;
  CHECK_REFUSED(ValueError, picture_grid_svg(grid), "picture_grid_svg", "width must be in [1, 4096], got 0");
  grid.width = 4096.5;
  CHECK_THROWS_AS(picture_grid_svg(grid), ValueError);
  for (const double width : {1.0, 4096.0}) {
    grid.width = width;
    check_svg(picture_grid_svg(grid));
  }
  CHECK_THROWS_AS(picture_grid_svg({.images = Array(Shape{0, 1, 4, 4})}), ValueError);
  CHECK_REFUSED(ShapeError, picture_grid_svg({.images = Array(Shape{4, 4}, 0)}), "picture_grid_svg", "(N, C, H, W)",
                "[4, 4]");
  CHECK_THROWS_AS(picture_grid_svg({.images = Array(Shape{1, 2, 4, 4}, 0)}), ShapeError);

  grid.overlay = {.shares = Array(Shape{3, 2, 4}, 1), .rows = 4, .columns = 2};
  CHECK(count_of("<line", picture_grid_svg(grid)) == 3 * (3 + 1));  // between 4 rows and 2 columns
  for (const Shape& wrong : {Shape{1, 2, 4}, Shape{3, 8}, Shape{3, 1, 2, 4}}) {
    grid.overlay.shares = Array(wrong, 1);
    CHECK_THROWS_AS(picture_grid_svg(grid), ShapeError);
  }
  for (const Real wrong : {Real(-0.1), Real(1.1), Real(NAN)}) {
    grid.overlay.shares = Array(Shape{3, 2, 4}, wrong);
    CHECK_THROWS_AS(picture_grid_svg(grid), ValueError);
  }
  grid.overlay.shares = Array(Shape{3, 2, 4}, 1);
  grid.overlay.rows = -1;
  CHECK_THROWS_AS(picture_grid_svg(grid), ValueError);
}

TEST_CASE("a confusion matrix counts which classes were predicted for each true class") {
  const Index labels({5}, {0, 1, 1, 2, 1}), guesses({5}, {0, 1, 0, 2, 1});
  const Index counts = confusion_matrix(labels, guesses, 3);
  CHECK(equal(counts, Index({3, 3}, {1, 0, 0, 1, 2, 0, 0, 0, 1})));
  const std::string svg = confusion_svg("Confusion", counts, {"cat", "dog", "cow"});
  check_svg(svg, 1, {"<title>dog → cat  0.333</title>", "<title>cow → cow  1.000</title>", ">predicted class</text>"});
  check_svg(confusion_svg("", confusion_matrix(labels, guesses, 4), {"a", "b", "c", "never"}), 0, {"nan"});

  CHECK_REFUSED(ValueError, confusion_matrix(labels, guesses, 2), "confusion_matrix", "class 2 is not in [0, 2)");
  CHECK_REFUSED(ShapeError, confusion_matrix(labels, Index({4}, 0), 3), "confusion_matrix", "(N), got [5] and [4]");
  CHECK_REFUSED(ValueError, confusion_matrix(labels, guesses, 0), "confusion_matrix",
                "classes must be in [1, 32768], got 0");
  CHECK_THROWS_AS(confusion_matrix(labels, guesses, 32769), ValueError);
  CHECK_THROWS_AS(confusion_matrix(Index({1}, {-1}), Index({1}, {0}), 3), ValueError);
  CHECK(confusion_matrix(Index({2}, 0), Index({2}, 0), 1).item() == 2);
  CHECK_REFUSED(ShapeError, confusion_svg("", counts, {"a"}), "confusion_svg", "1 classes need (1, 1), got [3, 3]");
  CHECK_THROWS_AS(confusion_svg("", Index({0, 0}, 0), {}), ValueError);
}

}  // namespace xgrad::kit::testing
