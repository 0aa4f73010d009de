// Does convolution win on little data? The accuracy of a convolutional network and of a vision transformer, trained for
// the same number of steps on few and on many pictures.
//
//   docs/tools/run few_pictures [--data FOLDER | --fashion-mnist] [--sizes N N ...] [--steps N] [--seeds N] [--out FOLDER] ...
#include <iostream>

#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/kit/program/table.h>
#include <xgrad/kit/train/trials.h>

#include "experiments.h"
#include "few_pictures.h"

namespace {

using namespace few_pictures;

struct Config : Training {
  std::string data;
  std::vector<std::int64_t> sizes = {500, 2000, 8000, 60000};  // pictures to learn from
  std::int64_t seeds = 5;
};

void run(const Config& config, kit::Example& example) {
  const kit::ImageData data = kit::image_data(config.data, example.seed);
  const Sizes sizes = sizes_of(data);
  std::vector<std::int64_t> counts = config.sizes;
  for (std::int64_t& count : counts) count = std::min(count, data.train.size());
  std::cout << data.train.size() << " pictures to train, " << data.test.size() << " to test; " << config.steps
            << " steps of " << config.batch << " pictures each\n";

  const std::vector<std::string> names{"convolutional network", "vision transformer"};
  kit::Table table({"", "pictures", "accuracy", "of each seed"});
  std::vector<kit::Series> curves;
  for (const std::string& name : names) {
    kit::Series& curve = curves.emplace_back();
    curve = {.name = name, .x = {counts.begin(), counts.end()}, .style = kit::Series::Style::marked};
    std::vector<std::string> variants;
    for (const std::int64_t count : counts) variants.push_back(str(name, ", ", count));
    const auto found = kit::trials(variants, {example.seed, config.seeds}, [&](std::size_t c, Seed seed) {
      if (name == names[0]) return accuracy(Cnn(nn::root, sizes), config, data, counts[c], seed);
      const nn::VisionTransformer model(nn::root, transformer_options(sizes));
      return accuracy(model, config, data, counts[c], seed);
    });
    for (std::size_t c = 0; c < counts.size(); ++c) {
      curve.y.push_back(found[c].mean(std::identity()));
      const std::string mean = kit::fixed(curve.y.back(), 3);
      table.row({name, counts[c], mean, found[c].each(std::identity())});
      example.result.add(str(name == names[0] ? "cnn_" : "vit_", counts[c]), mean);
    }
  }
  std::cout << table.text();
  kit::save(example.out / "few_pictures.svg",
            kit::line_plot(curves, {.title = str("Accuracy after ", config.steps, " steps, mean of ",
                                                 config.seeds, " seeds"),
                                    .x_label = "pictures to learn from",
                                    .y_label = "accuracy on pictures never seen",
                                    .x_scale = kit::Scale::log}));
}

}  // namespace

int experiments::few_pictures(int argc, char** argv) {
  const auto options = [](kit::Options& o, Config& c) {
    o.text("--data", c.data, "pictures, as for examples/cnn; without it drawn shapes");
    o.integers("--sizes", c.sizes, "pictures to learn from", 1, 10'000'000);
    o.integer("--steps", c.steps, "of training", 1, 1'000'000);
    o.integer("--batch", c.batch, "pictures of a step", 1, 100'000);
    o.real("--lr", c.learning_rate, "of Adam, at first", 1e-9, 1000);
    o.integer("--seeds", c.seeds, "train everything so many times", 1, 1000);
  };
  return kit::main<Config>(argc, argv, "few_pictures",
                           "A convolutional network and a vision transformer on few and on many pictures.", options,
                           run);
}
