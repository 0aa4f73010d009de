// Field attention: will somebody of this sex click, on a device of this brand? Neither field says it alone. A layer in
// which the fields attend to each other finds out which combinations do.
//
//   examples/run field_attention [--records N] [--steps N] [--lr RATE] [--seed N] [--out FOLDER]
#include <iostream>

#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/train/trainer.h>
#include <xgrad/xgrad.h>

#include "picture.h"

namespace {

using namespace field_attention;

struct Config {
  std::int64_t records = 2000;
  std::int64_t steps = 300;
  double lr = 0.01;
};

// -- data --

struct Data {
  Index records;  // (N, 2): sex and brand
  Tensor clicks;  // (N), 0 or 1
};

// One sex likes even brands, the other odd ones; one answer in ten is the other way round.
Data make_up(std::int64_t n) {
  const Index sex = randint(0, field_sizes[0], {n}), brand = randint(0, field_sizes[1], {n}),
              chance = randint(0, 10, {n});
  const Mask likes = (sex + brand) % 2 == 0, other = chance == 0;
  return {.records = stack<std::int64_t>({sex, brand}, 1), .clicks = to_real(likes ^ other)};
}

double accuracy(const ClickModel& model, const Data& data) {
  const NoGrad off;
  const Tensor guesses = to_real(model(data.records) > 0);
  return mean(guesses == data.clicks).item();
}

// -- training --

void run(const Config& config, kit::Example& example) {
  const Data train = make_up(config.records), unseen = make_up(1000);
  const ClickModel model;
  std::cout << model;
  const Index three = index({{0, 0}, {0, 1}, {1, 2}});
  save_graph(example.out / "interaction.svg", {model.interaction(three).output}, {.title = "Two fields, two heads"});

  optim::Adam adam{model.parameters(), {.lr = config.lr}};
  kit::Trainer trainer{model, adam, {.validate_every = 1}};
  const auto& history =
      trainer.fit(config.steps, [&] { return binary_cross_entropy_with_logits(model(train.records), train.clicks); });

  const double reached = accuracy(model, unseen);
  std::cout << "loss " << kit::fixed(history.front().loss, 4) << " -> " << kit::fixed(history.back().loss, 4)
            << "; accuracy " << kit::fixed(100 * reached, 1)
            << " % on 1000 unseen records, 10 % of whose labels are flipped at random\n";
  kit::save(example.out / "weights.svg", kit::heat_map_svg(weight_maps(three, model.interaction(three).weights)));
  example.result.add("loss", history.back().loss).add("accuracy", reached);
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = [](kit::Options& o, Config& c) {
    o.integer("--records", c.records, "records to learn from", 1, 1'000'000);
    o.integer("--steps", c.steps, "training steps", 1, 1'000'000);
    o.real("--lr", c.lr, "learning rate", 1e-9, 1000);
  };
  return kit::main<Config>(argc, argv, "field_attention", "Field attention: which combinations of categories matter.",
                           options, run);
}
