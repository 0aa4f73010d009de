// Search: greedy and exhaustive, with the numbers that they compare.
#include "../../../examples/decoding/table.h"
#include "gallery.h"

namespace gallery {

namespace {

// E1: the way through the table.
void greedy(const std::filesystem::path& out) {
  decoding::Table table;
  (void)nn::greedy(table, {.bos = decoding::table_bos, .eos = decoding::table_eos, .max_length = 4});
  kit::HeatMaps picture{.title = "The greatest of each row is taken", .columns = 1, .scale = kit::HeatScale::shares};
  picture.query_caption = "after", picture.key_caption = "next";
  picture.keys = {"A", "B", "C", "<eos>"};
  picture.panels.push_back({});
  for (const std::vector<std::string>& open : table.steps()) {
    picture.queries.push_back(open[0].empty() ? "(nothing)" : open[0]);
    for (const double p : decoding::probabilities(open[0])) picture.panels[0].values.push_back(p);
  }
  save(out / "e1.svg", picture);
}

// E2: all there are, the best first.
void exhaustive(const std::filesystem::path& out) {
  decoding::Table table;
  const nn::Hypotheses all = nn::exhaustive_search(table, {.bos = decoding::table_bos,
                                                           .eos = decoding::table_eos,
                                                           .max_length = 4,
                                                           .length_penalty = 0.75,
                                                           .num_best = 200})[0];
  kit::Series ended{.name = "ended", .style = kit::Series::Style::points};
  kit::Series open{.name = "cut off at 4", .style = kit::Series::Style::points};
  for (std::size_t i = 0; i < all.size(); ++i) {
    kit::Series& series = all[i].ended ? ended : open;
    series.x.push_back(static_cast<double>(i + 1));
    series.y.push_back(all[i].score);
  }
  const std::string title = str("The ", all.size(), " sequences with a probability above 0");
  kit::save(
      out / "e2.svg",
      kit::line_plot({ended, open}, {.title = title, .x_label = "place", .y_label = "score", .width = 480, .height = 300}));
}

}  // namespace

void search(const std::filesystem::path& out) {
  greedy(out);
  exhaustive(out);
}

}  // namespace gallery
