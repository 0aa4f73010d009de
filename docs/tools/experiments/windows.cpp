// The windows of a Swin transformer, drawn: a map cut into windows, shifted so that these hold nine regions, and back;
// four neighbours that become one; and a whole small model as a graph.
//
//   docs/tools/run windows [--out FOLDER]
#include <array>
#include <iostream>

#include <xgrad/kit/draw/svg.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/xgrad.h>

#include "experiments.h"

namespace {

using namespace xgrad;

struct Config {};

constexpr std::int64_t side = 8, window = 4, shift = 2;  // tokens of the map, of a window, and of its move
constexpr double cell = 26, gap = 40;

// The region of a token of the shifted map, 0 to 8, row after row of the map before the shift: band 0 is what the roll
// moves to the other end.
std::int64_t region(std::int64_t row, std::int64_t column) {
  const auto part = [](std::int64_t i) { return i < side - window ? 1 : i < side - shift ? 2 : 0; };
  return 3 * part(row) + part(column);
}

// A map whose top left corner is at (x, y). Its token (i, j) shows region_of(i, j).
template <class F>
void draw_map(kit::Svg& svg, double x, double y, const std::string& title, bool windows, const F& region_of) {
  svg.text(x, y - 10, title, {{"font-size", 13}, {"font-weight", "bold"}});
  for (std::int64_t i = 0; i < side; ++i) {
    for (std::int64_t j = 0; j < side; ++j) {
      const std::int64_t shown = region_of(i, j);
      const double left = x + cell * static_cast<double>(j), top = y + cell * static_cast<double>(i);
      svg.rect(left, top, cell, cell,
               {{"fill", kit::series_inks[static_cast<std::size_t>(shown % 7)]},
                {"fill-opacity", shown < 7 ? 0.3 : 0.6},
                {"stroke", kit::ground_ink}});
      svg.text(left + cell / 2, top + cell / 2 + 4, str(shown), {{"text-anchor", "middle"}, {"font-size", 12}});
    }
  }
  const double size = cell * side, step = windows ? cell * window : size;
  for (double at = 0; at < size; at += step) {
    for (double across = 0; across < size; across += step) {
      svg.rect(x + at, y + across, step, step, {{"fill", "none"}, {"stroke", kit::text_ink}, {"stroke-width", 2.5}});
    }
  }
}

// A, B and C are the corner and the two strips that the shift moves to the other end of the map.
void letter(kit::Svg& svg, double x, double y, std::int64_t row, std::int64_t column, const char* name) {
  const double middle = x + cell * (static_cast<double>(column) + 0.5), top = y + cell * static_cast<double>(row);
  svg.circle(middle, top + cell / 2, 11, {{"fill", kit::ground_ink}, {"stroke", kit::text_ink}});
  svg.text(middle, top + cell / 2 + 5, name, {{"text-anchor", "middle"}, {"font-size", 14}, {"font-weight", "bold"}});
}

std::string shifted_windows() {
  constexpr double size = cell * side, top = 70;
  kit::Svg svg(3 * size + 4 * gap, size + top + 60, "Shifted windows");
  svg.heading(gap, 28, "Shifted windows: 4 windows, 9 regions", 16, 3 * size);
  const auto before = [](std::int64_t i, std::int64_t j) {
    return region((i + side - shift) % side, (j + side - shift) % side);
  };
  const std::array<double, 3> x{gap, 2 * gap + size, 3 * gap + 2 * size};
  draw_map(svg, x[0], top, "the map, before", false, before);
  draw_map(svg, x[1], top, str("rolled by -", shift, ", cut into windows"), true, region);
  draw_map(svg, x[2], top, str("rolled back by ", shift), false, before);
  for (const double at : {x[0], x[2]}) {
    letter(svg, at, top, 0, 0, "A");
    letter(svg, at, top, window, 0, "B");
    letter(svg, at, top, 0, window, "C");
  }
  letter(svg, x[1], top, side - shift, side - shift, "A");
  letter(svg, x[1], top, window - shift, side - shift, "B");
  letter(svg, x[1], top, side - shift, window - shift, "C");
  svg.text(gap, top + size + 28, "A token attends to the tokens of its own region within its window.",
           {{"font-size", 13}, {"fill", kit::quiet_ink}});
  return svg.str();
}

// The masks of the four windows of the shifted map, a row and a column for each of the 16 tokens, named by their
// regions.
std::string window_masks(const Mask& apart) {
  constexpr std::int64_t tokens = window * window;
  constexpr double small = 15, size = small * tokens, top = 82;
  kit::Svg svg(4 * size + 5 * gap, size + top + 40, "Masks of four windows");
  svg.heading(gap, 28, "The masks of the four windows: pale pairs may not attend", 16, 4 * size);
  for (std::int64_t w = 0; w < 4; ++w) {
    const double left = gap + static_cast<double>(w) * (size + gap);
    const auto region_of = [&](std::int64_t t) {
      return region(w / 2 * window + t / window, w % 2 * window + t % window);
    };
    svg.text(left, 56, str(w < 2 ? "upper " : "lower ", w % 2 == 0 ? "left" : "right", " window"),
             {{"font-size", 13}, {"font-weight", "bold"}});
    for (std::int64_t t = 0; t < tokens; ++t) {
      const double at = small * static_cast<double>(t);
      svg.text(left + at + small / 2, top - 5, str(region_of(t)), {{"text-anchor", "middle"}, {"font-size", 11}});
      svg.text(left - 5, top + at + 11, str(region_of(t)), {{"text-anchor", "end"}, {"font-size", 11}});
      for (std::int64_t s = 0; s < tokens; ++s) {
        const bool masked = apart.at({w, t, s});
        svg.rect(left + small * static_cast<double>(s), top + at, small, small,
                 {{"fill", masked ? kit::quiet_ink : kit::series_inks[static_cast<std::size_t>(region_of(t) % 7)]},
                  {"fill-opacity", masked             ? 0.08
                                   : region_of(t) < 7 ? 0.5
                                                      : 0.8},
                  {"stroke", kit::ground_ink}});
      }
    }
  }
  svg.text(gap, top + size + 24, "A row is the token that attends, a column the token that is attended to.",
           {{"font-size", 13}, {"fill", kit::quiet_ink}});
  return svg.str();
}

// Relative positions in a window of 3 x 3: the rows of the table of biases, and the row for every pair of tokens.
std::string relative_positions() {
  constexpr std::int64_t side = 3, offsets = 2 * side - 1, tokens = side * side;
  constexpr double top = 82;
  kit::Svg svg(cell * (side + offsets + tokens) + 4 * gap + 20, cell * tokens + top + 40, "Relative positions");
  svg.heading(gap, 28, "A bias for each relative position in a window of 3 x 3", 16, 560);
  const auto square = [&](double x, std::int64_t row, std::int64_t column, std::int64_t number, std::int64_t offset) {
    const double left = x + cell * static_cast<double>(column), upper = top + cell * static_cast<double>(row);
    svg.rect(left, upper, cell, cell,
             {{"fill", offset < 0 ? kit::quiet_ink : kit::series_inks[static_cast<std::size_t>(offset / offsets)]},
              {"fill-opacity", offset < 0 ? 0.15 : 0.2 + 0.15 * static_cast<double>(offset % offsets)},
              {"stroke", kit::ground_ink}});
    svg.text(left + cell / 2, upper + cell / 2 + 4, str(number), {{"text-anchor", "middle"}, {"font-size", 12}});
  };
  const auto title = [&](double x, const char* first, const char* second) {
    svg.text(x, 54, first, {{"font-size", 13}, {"font-weight", "bold"}});
    svg.text(x, 72, second, {{"font-size", 12}, {"fill", kit::quiet_ink}});
  };
  const double table = gap + cell * side + gap + 20, pairs = table + cell * offsets + gap;
  title(gap, "9 tokens", "of a window");
  title(table, "25 rows of the table", "row, column offset -2 ... 2");
  title(pairs, "the row of each pair", "query down, key across");
  for (std::int64_t t = 0; t < tokens; ++t) {
    square(gap, t / side, t % side, t, -1);
    for (std::int64_t s = 0; s < tokens; ++s) {
      const std::int64_t row = offsets * (t / side - s / side + side - 1) + t % side - s % side + side - 1;
      square(pairs, t, s, row, row);
    }
  }
  for (std::int64_t i = 0; i < offsets * offsets; ++i) square(table, i / offsets, i % offsets, i, i);
  return svg.str();
}

std::string merging() {
  constexpr std::int64_t tokens = 4;
  constexpr double top = 66, full = cell * tokens, half = full / 2;
  kit::Svg svg(720, 250, "Patch merging");
  svg.heading(20, 28, "Patch merging: four neighbours become one token", 16, 680);
  const auto token = [&](double x, double y, std::size_t colour, double height) {
    svg.rect(x, y, cell, height,
             {{"fill", kit::series_inks[colour]}, {"fill-opacity", 0.55}, {"stroke", kit::ground_ink}});
  };
  const auto arrow = [&](double from, double to, double y) {
    svg.line(from, y, to - 7, y, {{"stroke", kit::quiet_ink}, {"stroke-width", 1.5}});
    svg.path(str("M", to - 8, " ", y - 4, "L", to, " ", y, "L", to - 8, " ", y + 4, "Z"), {{"fill", kit::quiet_ink}});
  };
  const auto caption = [&](double x, const char* first, const char* second) {
    svg.lines(x, 206, {first, second}, 13, {{"text-anchor", "middle"}, {"fill", kit::quiet_ink}});
  };
  const double y = top + 14;
  for (std::int64_t i = 0; i < tokens; ++i) {
    for (std::int64_t j = 0; j < tokens; ++j) {
      token(20 + cell * static_cast<double>(j), y + cell * static_cast<double>(i),
            static_cast<std::size_t>(2 * (i % 2) + j % 2), cell);
    }
  }
  caption(20 + half, "(H, W, C)", "");
  arrow(132, 162, y + half);
  for (std::size_t colour = 0; colour < 4; ++colour) {
    const double left = 170 + static_cast<double>(colour % 2) * (half + 10);
    const double upper = y - 5 + static_cast<double>(colour / 2) * (half + 10);
    for (std::size_t i = 0; i < 4; ++i) {
      token(left + cell * static_cast<double>(i % 2), upper + cell * static_cast<double>(i / 2), colour, cell);
    }
  }
  caption(170 + half + 5, "4 x (H/2, W/2, C)", "every second row and column");
  arrow(292, 322, y + half);
  // Four tokens of 4C: bars of four colours, then one bar of 2C.
  const auto bars = [&](double x, std::size_t parts, double height) {
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t part = 0; part < parts; ++part) {
        token(x + (cell + 4) * static_cast<double>(i),
              y + half - height * static_cast<double>(parts) / 2 + height * static_cast<double>(part),
              parts == 4 ? part : 4, height);
      }
    }
  };
  bars(332, 4, cell);
  caption(332 + 2 * (cell + 4), "(H/2, W/2, 4C)", "concatenated");
  arrow(462, 492, y + half);
  svg.text(477, y + half - 22, "norm,", {{"text-anchor", "middle"}, {"font-size", 13}});
  svg.text(477, y + half - 8, "linear", {{"text-anchor", "middle"}, {"font-size", 13}});
  bars(510, 1, 2 * cell);
  caption(510 + 2 * (cell + 4), "(H/2, W/2, 2C)", "not 4C: half of it");
  return svg.str();
}

void run(const Config&, kit::Example& example) {
  const nn::WindowGrid grid(side, side, window, shift);
  std::cout << grid.windows() << " windows of " << window << " x " << window
            << " tokens; pairs that may not attend to each other, by window:";
  const Mask apart = grid.regions();
  const std::int64_t pairs = apart.size() / grid.windows();
  for (std::int64_t w = 0; w < grid.windows(); ++w) {
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < pairs; ++i) count += apart.data()[w * pairs + i];
    std::cout << " " << count;
    example.result.add(str("apart", w), str(count));
  }
  std::cout << "\n";
  kit::save(example.out / "windows.svg", shifted_windows());
  kit::save(example.out / "masks.svg", window_masks(apart));
  kit::save(example.out / "relative.svg", relative_positions());
  kit::save(example.out / "merging.svg", merging());

  const nn::SwinTransformer model{
      nn::root, {.channels = 1, .dim = 8, .depths = {2, 2}, .heads = {1, 2}, .window = 4, .classes = 10}};
  const Tensor logits = model(Tensor(Array(Shape{1, 1, 32, 32}, Real(0)))).named("logits");
  save_graph(example.out / "swin.svg", {logits},
             {.title = "A small Swin transformer", .direction = Direction::left_to_right, .depth = 0, .legend = false});
}

}  // namespace

int experiments::windows(int argc, char** argv) {
  return kit::main<Config>(
      argc, argv, "windows", "The windows of a Swin transformer, drawn.", [](kit::Options&, Config&) {}, run);
}
