// How heavy is a penguin of this species, island, sex and size? A table from a CSV file, in which some fields are
// missing: numbers are standardised, words embedded, and the training ends when penguins held out are predicted no
// better.
//
//   examples/run penguins [--data FILE] [--epochs N] [--patience N] [--lr RATE] [--seed N] [--out FOLDER]
#include <iostream>

#include <xgrad/kit/data/data.h>
#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/files/csv_table.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/train/trainer.h>
#include <xgrad/xgrad.h>

namespace {

using namespace xgrad;

struct Config {
  std::filesystem::path data = XGRAD_EXAMPLES_DIR "/data/penguins.csv";
  std::int64_t epochs = 500;
  std::int64_t patience = 40;
  double lr = 0.003;
};

// -- data --

struct Penguins {
  Tensor sizes;  // (N, 3), not a number where one is missing
  Index words;   // (N, 3), 0 where one is missing
  Tensor mass;   // (N, 1), in kg

  Penguins rows(const Index& which) const { return {sizes[which], words[which], mass[which]}; }
};

Penguins read(const kit::CsvTable& table) {
  Tensors sizes;
  for (const char* name : {"bill_length_mm", "bill_depth_mm", "flipper_length_mm"})
    sizes.push_back(table.numbers(name));
  std::vector<Index> words;
  for (const char* name : {"species", "island", "sex"}) words.push_back(table.categories(name).codes + 1);
  const Tensor mass = unsqueeze(Tensor(table.numbers("body_mass_g")) / 1000, 1);
  const Penguins all{stack(sizes, 1), stack(words, 1), mass};
  return all.rows(flatnonzero(!isnan(mass)));  // without a mass there is nothing to learn and nothing to compare
}

// Columns get the mean 0 and the standard deviation 1 of the penguins to learn from; a missing number becomes the mean.
struct Standard {
  Tensor mean, deviation;  // (3)

  explicit Standard(const Tensor& x) {
    const Mask known = !isnan(x);
    const Tensor count = sum(to_real(known), 0);
    mean = sum(where(known, x, 0), 0) / count;
    deviation = sqrt(sum(where(known, square(x - mean), 0), 0) / count);
  }
  Tensor operator()(const Tensor& x) const { return where(isnan(x), 0, (x - mean) / deviation); }
};

// -- model --

struct Net : nn::Module {
  static constexpr std::int64_t columns = 3, words = 4, dim = 4;  // three words a column at the most, and "missing"
  nn::Embedding embedding{at("embedding"), columns* words, dim};
  nn::Mlp mlp{at("mlp"), {.in = 3 + columns * dim, .hidden = 32, .out = 1}};

  Tensor operator()(const Tensor& sizes, const Index& codes) const {     // (B, 3), (B, 3) -> (B, 1)
    const Tensor meanings = embedding(codes + words * arange(columns));  // (B, 3, dim): a part of the table a column
    return mlp(concat({sizes, flatten(meanings, 1)}, 1));
  }
};

// -- training --

void run(const Config& config, kit::Example& example) {
  const kit::CsvTable table(config.data);
  const Penguins all = read(table);
  const std::int64_t n = all.mass.dim(0), learnt = n * 7 / 10, seen = n * 85 / 100;
  const Index order = randperm(n);
  const auto part = [&](std::int64_t from, std::int64_t to) { return all.rows(order[{slice(from, to)}]); };
  const Penguins train = part(0, learnt), held_out = part(learnt, seen), test = part(seen, n);
  const Standard standard(train.sizes);

  const Net net;
  const auto error = [&](const Penguins& some) {  // of a typical prediction, in kg
    return sqrt(mse_loss(net(standard(some.sizes), some.words), some.mass)).item();
  };
  kit::DataLoader batches{kit::TensorDataset{standard(train.sizes), train.words, train.mass},
                          {.batch_size = 32, .shuffle = true, .seed = example.seed}};
  optim::AdamW adam{net.parameters(), {.lr = config.lr}};
  kit::Trainer trainer{net,
                       adam,
                       {.epochs = config.epochs,
                        .validate = [&] { return error(held_out); },
                        .patience = config.patience,
                        .folder = example.out}};
  trainer.fit(batches, [&](const Tensor& sizes, const Index& words, const Tensor& mass) {
    return mse_loss(net(sizes, words), mass);
  });
  trainer.restore_best();

  // -- results --

  const NoGrad off;
  const Tensor predicted = net(standard(test.sizes), test.words);
  const auto [codes, species] = table.categories("species");
  std::vector<kit::Series> points;
  for (std::int64_t s = 0; s < std::ssize(species); ++s) {
    const Mask rows = test.words[{_, 0}] == s + 1;
    points.push_back({species[s], test.mass[rows], predicted[rows], kit::Series::Style::points});
  }
  const kit::Values ends = stack({min(all.mass), max(all.mass)});
  points.push_back({"as heavy as predicted", ends, ends, kit::Series::Style::dashed});
  kit::save(example.out / "predicted.svg", kit::line_plot(points, {.title = "Penguins that the network has not seen",
                                                                   .x_label = "mass in kg",
                                                                   .y_label = "predicted mass in kg",
                                                                   .equal_aspect = true}));
  const double off_by = error(test),
               by_mean = sqrt(mse_loss(broadcast_to(mean(train.mass), test.mass.shape()), test.mass)).item();
  std::cout << n << " penguins, " << learnt << " to learn from; best after epoch " << trainer.best().epoch << " of "
            << trainer.history().size() << "\nerror for new penguins " << kit::fixed(1000 * off_by, 0)
            << " g, of the mean mass " << kit::fixed(1000 * by_mean, 0) << " g\n";
  example.result.add("epoch", trainer.best().epoch).add("error", off_by).add("error_of_mean", by_mean);
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = [](kit::Options& o, Config& c) {
    o.text("--data", c.data, "table with the columns of penguins.csv");
    o.integer("--epochs", c.epochs, "most passes over the penguins to learn from", 1, 100'000);
    o.integer("--patience", c.patience, "end after so many epochs without a better error", 1, 100'000);
    o.real("--lr", c.lr, "learning rate", 1e-9, 10);
  };
  return kit::main<Config>(argc, argv, "penguins", "The mass of penguins from a table with missing fields.", options,
                           run);
}
