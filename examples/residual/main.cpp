// Residual connections against degradation: a deeper plain stack fits the same training data worse than a shallow one,
// and the same stack with residual connections does not (He, Zhang, Ren, Sun, "Deep Residual Learning for Image
// Recognition", 2015, figure 1).
//
// Every layer has batch norm, so that no signal dies out on its way to the loss. The norm of the first gradient that
// arrives at the lowest layer tells what becomes of it on its way back.
//
//   residual [--depths N N ...] [--width N] [--epochs N] [--seeds N] [--out FOLDER] ...
#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <functional>
#include <iomanip>
#include <iostream>
#include <numbers>

#include <CLI/CLI.hpp>

#include <kit/cli.h>
#include <kit/format.h>
#include <kit/output.h>
#include <kit/plot.h>
#include <kit/progress.h>
#include <xgrad/xgrad.h>

namespace {

using namespace xgrad;

struct Config {
  // data: points on three arms of a spiral; which arm is the question
  std::int64_t points = 1200;
  double turns = 2;
  double noise = 0.02;

  // model
  std::int64_t width = 32;                         // C
  std::vector<std::int64_t> depths{2, 8, 16, 32};  // blocks of two layers

  // training
  std::int64_t epochs = 150;
  std::int64_t batch = 100;
  double learning_rate = 0.01;
  std::int64_t seeds = 3;
};

constexpr std::int64_t arms = 3;

enum class Path { plain, residual };

// ---- Model ----------------------------------------------------------------------------------------------------------

/// f(x) = W_2 relu(norm(W_1 relu(norm(x)))), or x + f(x)      (He et al. 2016, "Identity Mappings")
struct Block : nn::Module {
  Path path;
  nn::BatchNorm1d norm1;
  nn::Linear fc1;
  nn::BatchNorm1d norm2;
  nn::Linear fc2;

  Block(At here, std::int64_t width, Path path)
      : Module(here),
        path(path),
        norm1(at("norm1"), width),
        fc1(at("fc1"), width, width),
        norm2(at("norm2"), width),
        fc2(at("fc2"), width, width) {}

  Tensor operator()(const Tensor& x) const {  // (B, C)
    const auto here = enter(x);
    const Tensor f = fc2(relu(norm2(fc1(relu(norm1(x))))));
    return here(path == Path::residual ? x + f : f);
  }
};

struct Classifier : nn::Module {
  nn::Linear in;
  nn::Stack<Block> blocks;
  nn::BatchNorm1d norm;
  nn::Linear out;

  Classifier(std::int64_t width, std::int64_t depth, Path path)
      : in(at("in"), 2, width),
        blocks(at("blocks"), depth, width, path),
        norm(at("norm"), width),
        out(at("out"), width, arms) {
    apply<nn::Linear>([](const nn::Linear& map) {
      nn::init::reset(map.weight, nn::init::kaiming_normal({.nonlinearity = nn::init::Nonlinearity::relu}));
    });
  }

  Tensor operator()(const Tensor& x) const { return out(relu(norm(blocks(in(x))))); }  // (B, 2) -> (B, arms)
};

// ---- Data -----------------------------------------------------------------------------------------------------------

struct Spiral {
  Array points;  // (N, 2)
  Index arm;     // (N)
};

Spiral spiral(const Config& config) {
  Spiral data{.points = Array({config.points, 2}), .arm = Index({config.points})};
  const Array noise = random_normal({config.points, 2}, {.seed = 7, .draw = 0});
  for (std::int64_t i = 0; i < config.points; ++i) {
    const std::int64_t arm = i % arms;
    const double way = static_cast<double>(i) / static_cast<double>(config.points);
    const double angle = 2 * std::numbers::pi * (config.turns * way + static_cast<double>(arm) / arms);
    data.arm.mutable_data()[i] = arm;
    data.points.mutable_data()[2 * i] = static_cast<Real>(way * std::cos(angle) + config.noise * noise.at({i, 0}));
    data.points.mutable_data()[2 * i + 1] = static_cast<Real>(way * std::sin(angle) + config.noise * noise.at({i, 1}));
  }
  return data;
}

// ---- Training -------------------------------------------------------------------------------------------------------

using AfterEpoch = std::function<void(double loss)>;

std::vector<double> train(const Config& config, const Spiral& data, std::int64_t depth, Path path, std::uint64_t seed,
                          const AfterEpoch& after_epoch) {
  manual_seed(seed);
  const Classifier model(config.width, depth, path);
  const Tensors parameters = model.parameters();
  optim::SGD sgd(parameters, {.lr = config.learning_rate, .momentum = 0.9});
  std::vector<double> losses;
  for (std::int64_t epoch = 0; epoch < config.epochs; ++epoch) {
    const Index order = random_permutation(config.points, {.seed = seed, .draw = static_cast<std::uint64_t>(epoch)});
    double total = 0;
    std::int64_t steps = 0;
    for (std::int64_t begin = 0; begin + config.batch <= config.points; begin += config.batch, ++steps) {
      const Index rows = order[{slice(begin, begin + config.batch)}];
      const Tensor loss =
          cross_entropy(model(index_select(Tensor(data.points), 0, rows)), index_select(data.arm, 0, rows));
      sgd.step(grad(loss, parameters));
      total += loss.item();
    }
    losses.push_back(total / static_cast<double>(steps));
    after_epoch(losses.back());
  }
  return losses;
}

/// The norm of the gradient of the lowest layer's weight before the first step.
double first_gradient(const Config& config, const Spiral& data, std::int64_t depth, Path path, std::uint64_t seed) {
  manual_seed(seed);
  const Classifier model(config.width, depth, path);
  const Tensor g = grad(cross_entropy(model(data.points), data.arm), {model.in.weight})[0];
  return std::sqrt(sum(g * g).item());
}

// ---- Report ---------------------------------------------------------------------------------------------------------

/// The training loss of one kind of stack at one depth, mean of all seeds.
struct Result {
  Path path;
  std::int64_t depth;
  std::vector<double> losses = {};
  std::vector<double> first_gradients = {};  // of each seed
  std::vector<double> last = {};  // of each seed: mean of the last ten epochs, which differ by the chance of batches
};

const char* name(Path path) { return path == Path::plain ? "plain" : "residual"; }

double mean(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

std::vector<Result> train_all(const Config& config, const Spiral& data, std::uint64_t first_seed) {
  std::vector<Result> results;
  for (const Path path : {Path::plain, Path::residual}) {
    for (const std::int64_t depth : config.depths) results.push_back({.path = path, .depth = depth});
  }
  kit::ProgressBar bar({.total = std::ssize(results) * config.seeds * config.epochs, .title = "training"});
  std::int64_t done = 0;
  for (Result& result : results) {
    const std::string title = cat(name(result.path), " ", result.depth);
    result.losses.resize(static_cast<std::size_t>(config.epochs));
    for (std::int64_t i = 0; i < config.seeds; ++i) {
      const std::uint64_t seed = first_seed + static_cast<std::uint64_t>(i);
      result.first_gradients.push_back(first_gradient(config, data, result.depth, result.path, seed));
      const std::vector<double> losses = train(config, data, result.depth, result.path, seed, [&](double loss) {
        bar.update(++done, {{"stack", title}, {"loss", kit::fixed(loss, 3)}});
      });
      for (std::size_t e = 0; e < losses.size(); ++e) {
        result.losses[e] += losses[e] / static_cast<double>(config.seeds);
      }
      result.last.push_back(mean(std::span(losses).last(std::min<std::size_t>(10, losses.size()))));
    }
  }
  return results;
}

void draw(const Config& config, const std::vector<Result>& results, const std::filesystem::path& out) {
  const auto [shallowest, deepest] = std::ranges::minmax(config.depths);
  std::vector<kit::Series> curves;
  std::array<kit::Series, 2> by_depth{{{.name = name(Path::plain)}, {.name = name(Path::residual)}}};
  for (const Result& result : results) {
    kit::Series& line = by_depth.at(result.path == Path::plain ? 0 : 1);
    line.x.push_back(static_cast<double>(result.depth));
    line.y.push_back(mean(result.last));
    if (result.depth != shallowest && result.depth != deepest) continue;
    kit::Series& curve = curves.emplace_back();
    curve.name = cat(name(result.path), ", ", result.depth, " blocks");
    curve.y = result.losses;
    for (std::size_t e = 0; e < curve.y.size(); ++e) curve.x.push_back(static_cast<double>(e + 1));
    if (result.depth == shallowest) curve.style = kit::Series::Style::dashed;
  }
  kit::save_text(out / "loss.svg",
                 kit::line_plot(curves, {.title = cat("Training loss, mean of ", config.seeds, " seeds"),
                                         .x_label = "epoch",
                                         .y_label = "cross-entropy"}));
  kit::save_text(out / "depth.svg",
                 kit::line_plot({by_depth[0], by_depth[1]}, {.title = "Training loss at the end, over the depth",
                                                             .x_label = "blocks",
                                                             .y_label = "cross-entropy"}));
}

void run(const Config& config, const kit::CommonOptions& common) {
  const std::filesystem::path out = kit::output_folder("residual", common.out);
  if (common.threads > 0) set_threads(common.threads);
  std::cout << to_string(build_info()) << "\n"
            << config.points << " points on " << arms << " arms of a spiral, layers of width " << config.width << ", "
            << config.epochs << " epochs; training loss at the end (guessing: " << kit::fixed(std::log(arms), 3)
            << ")\n";
  const std::vector<Result> results = train_all(config, spiral(config), common.seed);

  kit::ResultLine line;
  std::cout << std::setw(24) << "loss" << std::setw(16) << "first gradient"
            << "   loss of each seed\n";
  for (const Result& result : results) {
    std::cout << std::left << std::setw(9) << name(result.path) << std::right << std::setw(7) << result.depth
              << std::setw(8) << kit::fixed(mean(result.last), 3) << std::setw(16)
              << kit::fixed(mean(result.first_gradients), 2) << "  ";
    for (const double loss : result.last) std::cout << " " << kit::fixed(loss, 3);
    std::cout << "\n";
    line.add(cat(name(result.path), "_", result.depth), kit::fixed(mean(result.last), 3));
  }
  draw(config, results, out);
  std::cout << out.string() << ": loss.svg, depth.svg\n";
  line.add("out", out.string()).print();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Trains plain and residual stacks of growing depth.");
  Config config;
  kit::CommonOptions common;
  kit::add_common_options(app, common);
  const auto add = [&app](const char* option, auto& value, const char* what) {
    app.add_option(option, value, what)->check(CLI::PositiveNumber)->capture_default_str();
  };
  add("--depths", config.depths, "blocks of two layers");
  add("--width", config.width, "of the layers");
  add("--epochs", config.epochs, "times that every point is seen");
  add("--lr", config.learning_rate, "learning rate");
  add("--seeds", config.seeds, "train every stack so many times");
  CLI11_PARSE(app, argc, argv);
  try {
    run(config, common);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "residual: " << error.what() << "\n";
    return 1;
  }
}
