// Field attention: will somebody of this sex click, on a device of this brand? Neither field says it alone. A layer in
// which the fields attend to each other finds out which combinations do.
//
//   examples/run field_attention [--data FILE | --records N] [--steps N] [--lr RATE] [--seed N] [--out FOLDER]
//
// FILE is a table like the clicks.csv that is made up without it.
#include <iostream>

#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/files/csv.h>
#include <xgrad/kit/files/csv_table.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/kit/train/trainer.h>
#include <xgrad/xgrad.h>

#include "picture.h"

namespace {

using namespace field_attention;

struct Config {
  std::string data;
  std::int64_t records = 2000;
  std::int64_t steps = 300;
  double learning_rate = 0.01;
};

struct Data {
  Index records;  // (N, fields)
  Tensor clicks;  // (N), 0 or 1
};

const std::vector<std::string> sexes{"female", "male"}, brands{"A", "B", "C"};

// Adds records to a table: one sex likes even brands, the other odd ones; one answer in ten is the other way round.
void make_up(kit::CsvLogger& table, std::int64_t n) {
  const Index sex = randint(0, field_sizes[0], {n}), brand = randint(0, field_sizes[1], {n}),
              chance = randint(0, 10, {n});
  for (std::int64_t i = 0; i < n; ++i) {
    const bool likes = (sex.data()[i] + brand.data()[i]) % 2 == 0;
    table.row({sexes[static_cast<std::size_t>(sex.data()[i])], brands[static_cast<std::size_t>(brand.data()[i])],
               likes != (chance.data()[i] == 0) ? 1 : 0});
  }
}

Data read(const std::filesystem::path& path) {
  const kit::CsvTable table(path);
  const Index sex = table.categories("sex", sexes).codes, brand = table.categories("brand", brands).codes;
  return {.records = stack<std::int64_t>({sex, brand}, 1), .clicks = table.numbers("click")};
}

// The rows [from, to).
Data part(const Data& data, std::int64_t from, std::int64_t to) {
  return {.records = data.records[{slice(from, to)}], .clicks = data.clicks[{slice(from, to)}]};
}

double accuracy(const ClickModel& model, const Data& data) {
  const NoGrad off;
  const Tensor guesses = to_real(model(data.records) > 0);
  return mean(guesses == data.clicks).item();
}

// The embedding rows of records, and their two heads, from a table of the numbers 0 ... 35 in order.
void show_heads(const Index& records) {
  const Index rows = table_rows(records);
  const Tensor table = reshape(to_real(arange(table_size * 6)), {table_size, 6});
  const Tensor heads = split_heads(embedding(table, rows), 2);  // (2, B, F, 3)
  for (std::int64_t b = 0; b < records.dim(0); ++b) {
    std::cout << "record " << records.at({b, 0}) << ", " << records.at({b, 1}) << " reads rows " << rows.at({b, 0})
              << ", " << rows.at({b, 1}) << " of " << table_size;
    for (std::int64_t h = 0; h < 2; ++h) {
      std::cout << "; head " << h + 1 << " has";
      for (std::int64_t f = 0; f < fields; ++f) {
        if (f > 0) std::cout << ",";
        for (const Real number : heads[{h, b, f}].value()) std::cout << " " << number;
      }
    }
    std::cout << "\n";
  }
}

void run(const Config& config, kit::Example& example) {
  std::int64_t judged = 1000;
  std::filesystem::path file = config.data;
  if (file.empty()) {
    kit::CsvLogger table(file = example.out / "clicks.csv", {"sex", "brand", "click"});
    make_up(table, config.records);
    make_up(table, judged);
  }
  const Data all = read(file);
  const std::int64_t rows = all.clicks.dim(0);
  if (!config.data.empty()) judged = rows / 5;
  const Data train = part(all, 0, rows - judged), held_out = part(all, rows - judged, rows);
  const ClickModel model;
  std::cout << model;

  const Index three = index({{0, 0}, {0, 1}, {1, 2}});
  show_heads(three);
  const Interaction shown = model.interaction(three);
  std::cout << "three records: embedded " << str(model.embedding(table_rows(three)).shape()) << ", heads "
            << str(shown.queries.shape()) << ", scores " << str(shown.scores.shape()) << ", output "
            << str(shown.output.shape()) << "\n";
  save_graph(example.out / "interaction.svg", {shown.output}, {.title = "Two fields, two heads"});

  optim::Adam adam{model.parameters(), {.lr = config.learning_rate}};
  kit::Trainer trainer{model, adam, {.validate_every = 1}};
  trainer.fit(config.steps, [&] { return binary_cross_entropy_with_logits(model(train.records), train.clicks); });
  kit::Series curve{.name = "training loss"};
  for (const kit::Report& report : trainer.history()) curve.y.push_back(report.loss);
  const double reached = accuracy(model, held_out);
  std::cout << "loss " << kit::fixed(curve.y.front(), 4) << " -> " << kit::fixed(curve.y.back(), 4) << "; accuracy "
            << kit::fixed(100 * reached, 1) << " % on " << judged
            << " unseen records, 10 % of whose labels are flipped at random\n";

  kit::save_text(example.out / "weights.svg", kit::heat_map_svg(weight_maps(three, model.interaction(three).weights)));
  kit::save_text(
      example.out / "loss.svg",
      kit::line_plot({curve}, {.title = "Field attention", .x_label = "step", .y_label = "cross-entropy per record"}));
  example.result.add("loss", curve.y.back()).add("accuracy", reached);
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = [](kit::Options& o, Config& c) {
    o.text("--data", c.data, "table with the columns sex, brand and click, a fifth of it to judge by");
    o.integer("--records", c.records, "records to learn from", 1, 1'000'000);
    o.integer("--steps", c.steps, "training steps", 1, 1'000'000);
    o.real("--lr", c.learning_rate, "learning rate", 1e-9, 1000);
  };
  return kit::main<Config>(argc, argv, "field_attention", "Field attention: which combinations of categories matter.",
                           options, run);
}
