// Several processes (ranks) train one GPT: each has the same model and a share of every batch, and their gradients are
// averaged while the backward pass runs. The numbers are those of one process, but for rounding.
//
//   examples/run --ranks 2 data_parallel [--steps N] [--batch N] [--resume] [--seed N] [--out FOLDER] ...
#include <xgrad/kit/data/data.h>
#include <xgrad/kit/files/text_file.h>
#include <xgrad/kit/mpi/data_parallel.h>
#include <xgrad/kit/mpi/main.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/text/tokenizer.h>
#include <xgrad/kit/train/trainer.h>
#include <xgrad/xgrad.h>

namespace {

using namespace xgrad;

struct Config {
  nn::GptOptions model{.context = 64, .dim = 128, .heads = 4, .layers = 4};
  std::int64_t batch = 12;  // windows of a step, of all ranks together
  std::int64_t steps = 300;
  std::int64_t report_every = 100;
  bool resume = false;
};

void run(Config config, kit::Example& example, mpi::World& world) {
  const std::string text = kit::load_text(XGRAD_EXAMPLES_DIR "/data/pride_and_prejudice.txt");
  const kit::CharacterTokenizer tokenizer(text);
  const Index ids = tokenizer.encode(text);
  const std::int64_t context = config.model.context, windows = (ids.size() - 1) / context, end = windows * context;
  const Index x = ids[{slice(0, end)}].reshaped({windows, context});
  const Index y = ids[{slice(1, end + 1)}].reshaped({windows, context});
  const std::int64_t most = windows - 256;
  kit::DataLoader batches{
      kit::TensorDataset{x[{slice(0, most)}], y[{slice(0, most)}]},
      {.batch_size = config.batch, .shuffle = true, .drop_last = true, .seed = example.seed, .mine = world.shard()}};
  kit::DataLoader held_out{kit::TensorDataset{x[{slice(most, none)}], y[{slice(most, none)}]},
                           {.batch_size = 64, .mine = world.shard()}};

  config.model.vocabulary = tokenizer.size();
  const nn::Gpt model{nn::root, config.model};
  optim::AdamW adam{model.parameters(), {.lr = 1e-3}};
  mpi::DataParallel parallel{world, model, adam};
  parallel.agree("the data differ", batches.fingerprint());
  const auto mean_loss = [&] {
    double sum = 0, count = 0;
    for (const auto& [before, next] : held_out) {
      sum += cross_entropy(model(before), next, {.reduction = Reduction::sum}).item();
      count += next.size();
    }
    return kit::Scores{{"held_out_loss", world.sum(sum) / world.sum(count)}};
  };
  kit::Trainer trainer{model,
                       adam,
                       {.steps = config.steps,
                        .max_norm = 1,
                        .validate = mean_loss,
                        .validate_every = config.report_every,
                        .folder = world.own_folder(example.out),
                        .resume = config.resume,
                        .gradients = parallel.for_trainer(),
                        .terminal = world.first() ? kit::Terminal::standard_error() : kit::Terminal{}}};
  trainer.fit(batches, [&](const Index& before, const Index& next) { return cross_entropy(model(before), next); });
  example.result.add("ranks", world.ranks()).add("steps", trainer.steps());
  if (!trainer.history().empty()) example.result.add("loss", trainer.history().back().scores.values[0].second);
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = [](kit::Options& o, Config& c) {
    o.integer("--batch", c.batch, "windows per step", 1, 100'000);
    o.integer("--dim", c.model.dim, "width of the model", 1, 100'000);
    o.integer("--layers", c.model.layers, "blocks", 1, 1000);
    o.integer("--steps", c.steps, "training steps", 1, 1'000'000'000);
    o.integer("--report-every", c.report_every, "steps from one report to the next", 1, 1'000'000'000);
    o.flag("--resume", c.resume, "go on from the checkpoint in the folder");
  };
  return mpi::main<Config>(argc, argv, "data_parallel", "Several processes train one GPT.", options, run);
}
