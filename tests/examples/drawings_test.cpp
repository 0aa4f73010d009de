// Drawings of the kit, compared with those that are kept (support/kept.h).
#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include <xgrad/kit/data/shapes.h>
#include <xgrad/kit/draw/attention.h>
#include <xgrad/kit/draw/heatmap.h>
#include <xgrad/kit/draw/pictures.h>
#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/draw/vectors.h>
#include <xgrad/kit/train/trainer.h>
#include <xgrad/ops/elementwise/arithmetic.h>
#include <xgrad/optim/optimizers/sgd.h>

#include "support.h"
#include "support/kept.h"

namespace xgrad::kit::testing {
namespace {

/// The values of a PNG file in base 64, which are the same for every version of libpng.
std::string pixels_of(std::string_view base64) {
  const std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string file;
  unsigned bits = 0, count = 0;
  for (const char c : base64.substr(0, base64.find('='))) {
    bits = bits << 6 | static_cast<unsigned>(digits.find(c));
    if ((count += 6) >= 8) file += static_cast<char>(bits >> (count -= 8) & 0xFF);
  }
  const DecodedPng png(file);
  std::string text = str(png.image.width, "x", png.image.height, ":");
  for (const png_byte value : png.values) text += str(" ", int{value});
  return text;
}

/// The drawing with the values of its pictures.
std::string with_pixels(std::string svg) {
  const std::string_view before = "data:image/png;base64,";
  for (std::size_t at = svg.find(before); at != svg.npos; at = svg.find(before, at)) {
    const std::size_t end = svg.find('"', at);
    svg.replace(at, end - at, pixels_of(std::string_view(svg).substr(at, end - at).substr(before.size())));
  }
  return svg;
}

void check_kept(const std::string& name, const std::string& svg) {
  CHECK(xml_error(svg) == "");
  xgrad::testing::check_kept(name + ".svg", svg, with_pixels);
}

const std::vector<double> five{1, 2, 3, 4, 5};

/// One of each style.
std::vector<Series> all_styles() {
  return {
      {"band", {1, 5, 5, 1}, {1.5, 0.25, 0.5, 2.5}, Series::Style::area},
      {"training", five, {2, 1, 0.7, 0.5, 0.4}},
      {"the loss of what is held out, which is not trained on", five, {2, 1.2, 1, 0.9, 0.95}, Series::Style::marked},
      {"bound", {1, 5}, {0.3, 0.3}, Series::Style::dashed},
      {"measured", {1.5, 3, 4.5}, {1.5, 0.8, 0.45}, Series::Style::points},
      {"again", five, {2, 1, 0.7, 0.5, 0.4}, Series::Style::marked}};  // covers the training
}

HeatMaps two_heads() {
  return {.title = "Attention",
          .queries = {"va", "!", "<eos>"},
          .keys = {"go", "anticonstitutionnellement"},
          .panels = {{"head 1", {0.25, 0.75, 1, 0, 0.5, 0.5}}, {"head 2", {0.1, 0.9, 1, 0, 0.3, 0.7}}},
          .columns = 1,
          .masked = {false, false, false, true, false, false}};
}

}  // namespace

TEST_CASE("a plot of each style looks as it did") {
  const CommaLocale commas;
  check_kept("plot",
             line_plot(all_styles(), {.title = "How a training goes on, in a title that is too long for one line",
                                      .x_label = "epoch",
                                      .y_label = "loss",
                                      .width = 400,
                                      .height = 360}));
  check_kept("plot_log", line_plot({{"", {1, 10, 100}, {2, 20, 300}}},
                                   {.x_label = "size", .x_scale = Scale::log, .y_scale = Scale::log, .height = 200}));
}

TEST_CASE("a figure of panels looks as it did") {
  const PlotPanel circle{.series = {{"circle", {1, 0, -1, 0, 1}, {0, 1, 0, -1, 0}}},
                         .title = "Equal units",
                         .x_label = "x",
                         .y_label = "an axis with a label of two lines, since it is much wider than its panel is",
                         .equal_aspect = true};
  const PlotPanel limited{.series = {{"line", {0, 4}, {0, 4}}, {"points", {1, 2, 9}, {3, 1, 1}, Series::Style::points}},
                          .x_label = "of a picture",
                          .x_limits = Limits{0, 2},
                          .y_limits = Limits{0, 4},
                          .picture = regions(Index({2, 2}, {0, 1, 1, 2}))};
  check_kept("panels", panel_plot({circle, limited, circle}, {.title = "Three panels", .width = 240, .height = 220}));
  check_kept("panels_alike", panel_plot({circle, circle}, {.columns = 1, .width = 220, .height = 200}));
}

TEST_CASE("a grid of pictures looks as it did") {
  PictureGrid grid{.title = "Pictures",
                   .images = random_uniform({3, 1, 2, 3}, {.seed = 1}),
                   .captions = {"cat", "a caption of two lines for a picture", ""},
                   .columns = 2,
                   .width = 60};
  check_kept("pictures", picture_grid_svg(grid));
  grid.title.clear();
  grid.overlay = {.shares = random_uniform({3, 2, 2}, {.seed = 2}),
                  .caption = "share of the attention, in words that go on in a second line below the scale",
                  .lines_caption = "patches"};
  check_kept("pictures_overlaid", picture_grid_svg(grid));
}

TEST_CASE("a drawn shape looks as it did") {
  const ImageSet drawn = draw_shapes({.seed = 1}, {.count = 20, .size = 12, .channels = 3, .noise = 0.02});
  check_kept("shapes", picture_grid_svg({.images = drawn.all().images, .columns = 10, .width = 36}));
  CHECK(std::set<std::int64_t>(drawn.labels().begin(), drawn.labels().end()).size() == 10);
}

TEST_CASE("a heat map looks as it did") {
  const CommaLocale commas;
  HeatMaps maps = two_heads();
  check_kept("heat_maps", heat_map_svg(maps));
  maps.masked = {};
  maps.columns = 2;
  maps.scale = HeatScale::each;
  maps.panels[1].values = {-0.00015, 0, 0.0001, 0, 0, 0.00012};  // with labels that are wider than "masked"
  check_kept("heat_maps_each", heat_map_svg(maps));
  maps.scale = HeatScale::yes_no;
  maps.panels = {{"", {1, 0, 1, 1, 0, 1}}};
  maps.key_caption = "the keys, which are told in more words than two columns have room for";
  maps.title = "A mask, with a title that is wider than all of its three rows and two columns are together";
  check_kept("heat_map_mask", heat_map_svg(maps));
}

TEST_CASE("an alignment looks as it did") {
  const CommaLocale commas;
  HeatMaps maps = two_heads();
  maps.keys = {"go", ".", "<pad>"};
  maps.masked = {false, false, true, false, false, true, false, false, true};
  const Array weights({1, 2, 3, 3}, {0.7, 0.3, 0, 0.2, 0.8, 0, 0.5, 0.5, 0, 0.9, 0.1, 0, 0, 1, 0, 0.4, 0.6, 0});
  CHECK(alignment_text(weights, maps, 2) ==
        "query   most weight on\n"
        "va             go 0.80    . 0.20\n"
        "!               . 0.90   go 0.10\n"
        "<eos>           . 0.55   go 0.45\n");
  CHECK(alignment_text(weights, maps, 1) ==
        "query   most weight on\n"
        "va             go 0.80\n"
        "!               . 0.90\n"
        "<eos>           . 0.55\n");
  maps.queries[2] = "anticonstitutionnellement";
  check_kept("alignment", alignment_svg(weights, maps, 2));
}

TEST_CASE("the attention of two layers looks as it did") {
  Array weights(Shape{2, 3, 2, 8}, 0);  // each head looks at a word of its own
  for (std::int64_t i = 0; i < weights.size(); ++i) {
    if (i % 8 < 7) weights.mutable_data()[i] = static_cast<Real>(i % 8 == i / 16 ? 0.625 : 0.0625);
  }
  HeatMaps maps = cross_maps({"il", "court"}, {"he", "runs", "as", "fast", "as", "he", "can", "<pad>"},
                             {.title = "Attention"});
  maps.masked.resize(16);
  maps.masked[7] = maps.masked[15] = true;
  check_kept("attention", attention_svg(weights, maps));
}

TEST_CASE("the figure of the curves of a training looks as it did") {
  struct Nothing : nn::Module {
  } module;
  const Tensor w = variable(1, "w");
  optim::SGD sgd{{w}, {.lr = 1}};
  const TemporaryFolder folder;
  TrainerOptions options{.validate_every = 2, .folder = folder.path(), .terminal = {}};
  Trainer* running = nullptr;
  // A score with a 0 among its numbers has no logarithmic axis.
  options.validate = [&] {
    const auto step = static_cast<double>(running->steps());
    return Scores{{"accuracy", step < 4 ? 0 : 1 - 1.1 / step}, {"loss of what is held out", 5 / step}};
  };
  Trainer trainer{module, sgd, options};
  running = &trainer;
  trainer.fit(10, [&] { return w - w.detach() + std::exp2(static_cast<Real>(-trainer.steps())); });
  check_kept("curves", read_text(folder / "curves.svg"));
}

TEST_CASE("a map of words looks as it did") {
  const std::vector<std::string> words{"he", "she", "they", "<unk>", "anticonstitutionnellement", "here", "there"};
  check_kept("word_map", word_map_svg("Words", words,
                                      Array({7, 2}, {0, 0, 0.02, 0.01, 0.01, 0.03, 4, 1, 4.01, 1, 2, 2, 0.03, 0.02})));
}

}  // namespace xgrad::kit::testing
