// The trainer: it trains the same as a loop by hand; resumed from everywhere, bit for bit; ends, files, errors.
#include <doctest/doctest.h>

#include <cmath>
#include <csignal>
#include <limits>
#include <sstream>

#include <xgrad/kit/data/csv_table.h>
#include <xgrad/kit/data/data_loader.h>
#include <xgrad/kit/mpi/data_parallel.h>
#include <xgrad/kit/train/trainer.h>
#include <xgrad/xgrad.h>

#include "support.h"

namespace xgrad::kit {
namespace {

using testing::read_text;
using testing::TemporaryFolder;

struct Net : nn::Module {
  nn::Linear in{at("in"), 2, 8};
  nn::Dropout dropout{at("dropout"), 0.2};
  nn::Linear out{at("out"), 8, 2};

  Tensor operator()(const Tensor& x) const { return out(dropout(tanh(in(x)))); }
};

/// Which of two halves of the plane points lie in.
struct Points {
  Tensor x = random_normal({40, 2}, {.seed = 5});
  Index label = Index(Shape{40}, 0);

  Points() {
    for (std::int64_t i = 0; i < 40; ++i) label.mutable_data()[i] = x.value().at({i, 0}) > x.value().at({i, 1});
  }
  TensorDataset<Tensor, Index> data() const { return TensorDataset{x, label}; }
};

const DataLoaderOptions eights{.batch_size = 8, .shuffle = true, .seed = 3};

/// Everything of one training, made new.
struct Training {
  Points points;
  Net net;
  optim::AdamW adam;
  DataLoader<TensorDataset<Tensor, Index>> batches;
  Trainer trainer;

  explicit Training(TrainerOptions options)
      : net(seeded()),
        adam(net.parameters(), {.lr = 0.05}),
        batches(points.data(), eights),
        trainer(net, adam, with(std::move(options))) {}

  const std::vector<EpochReport>& fit() {
    return trainer.fit(batches, [&](const Tensor& x, const Index& y) { return cross_entropy(net(x), y); });
  }
  double loss() const { return static_cast<double>(cross_entropy(net(points.x), points.label).item()); }

 private:
  static Net seeded() {
    manual_seed(7);
    return Net();
  }
  TrainerOptions with(TrainerOptions options) {
    options.terminal = {};
    if (!options.validate) {
      options.validate = [this] { return Scores{{"loss", loss()}, {"two", 2}}; };
    }
    return options;
  }
};

void check_equal(const NamedArrays& a, const NamedArrays& b) {
  REQUIRE(a.size() == b.size());
  for (const auto& [name, array] : a) CHECK(equal(std::get<Array>(array), std::get<Array>(b.at(name))));
}

}  // namespace

TEST_CASE("a trainer does what a loop by hand does, bit for bit") {
  Training one({.epochs = 3, .schedule = optim::schedule::cosine({.steps = 15}), .max_norm = 0.5});
  const auto& history = one.fit();
  REQUIRE(history.size() == 3);
  CHECK(history[2].epoch == 3);
  CHECK(history[2].step == 15);
  CHECK(one.trainer.steps() == 15);

  const Points points;
  manual_seed(7);
  const Net net;
  optim::AdamW adam{net.parameters(), {.lr = 0.05}};
  optim::Scheduler scheduler{adam, optim::schedule::cosine({.steps = 15})};
  DataLoader batches{points.data(), eights};
  for (int epoch = 0; epoch < 3; ++epoch) {
    double sum = 0, lr = 0;
    for (const auto& [x, y] : batches) {
      const Tensor loss = cross_entropy(net(x), y);
      lr = scheduler.lr();
      adam.step(optim::clip_grad_norm(grad(loss, net.parameters()), net.parameters(), 0.5).gradients);
      scheduler.step();
      sum += loss.item();
    }
    const nn::Eval eval(net);
    CHECK(history[epoch].loss == sum / 5);
    CHECK(history[epoch].lr == doctest::Approx(lr));
    CHECK(history[epoch].scores.values[0].second == cross_entropy(net(points.x), points.label).item());
  }
  check_equal(one.net.state_dict(), net.state_dict());
  CHECK(one.net.training());
  CHECK(history[2].loss < history[0].loss);
}

TEST_CASE("a step that is written out trains as the loss alone does, bit for bit") {
  TrainerOptions options{.epochs = 3, .schedule = optim::schedule::cosine({.steps = 15}), .ema = 0.9};
  TrainerOptions clipped = options;
  clipped.max_norm = 0.5;
  Training one(clipped);
  one.fit();
  Training own(options);  // which sets the seed again
  const Tensors parameters = own.net.parameters();
  own.trainer.run(own.batches, [&](const Tensor& x, const Index& y) {
    const Tensor loss = cross_entropy(own.net(x), y);
    own.adam.step(optim::clip_grad_norm(grad(loss, parameters), parameters, 0.5).gradients);
    return loss;
  });
  check_equal(own.net.state_dict(), one.net.state_dict());
  REQUIRE(own.trainer.history().size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(own.trainer.history()[i].loss == one.trainer.history()[i].loss);
    CHECK(own.trainer.history()[i].lr == one.trainer.history()[i].lr);
    CHECK(own.trainer.history()[i].scores.values == one.trainer.history()[i].scores.values);
  }
  const auto nothing = [](const Tensor&, const Index&) { return 1.0; };
  CHECK_THROWS_WITH_AS(one.trainer.run(one.batches, nothing),
                       "trainer: max_norm is for fit(): a step of your own clips itself", ValueError);
  Training twice({.accumulate = 2});
  CHECK_THROWS_WITH_AS(twice.trainer.run(twice.batches, nothing),
                       "trainer: accumulate is for fit(): a step of your own adds up itself", ValueError);
  Training wrong({.epochs = 1});
  CHECK_THROWS_WITH_AS(wrong.trainer.run(wrong.batches, [](const auto&) { return std::nan(""); }),
                       "trainer: the loss of step 1 is nan", NumericError);
}

TEST_CASE("steps end a training in the middle of an epoch, and the last of them is reported") {
  const TemporaryFolder folder;
  const auto steps_of = [](const Training& t) {
    std::vector<std::pair<std::int64_t, std::int64_t>> reports;
    for (const EpochReport& report : t.trainer.history()) reports.emplace_back(report.epoch, report.step);
    return reports;
  };
  using Steps = std::vector<std::pair<std::int64_t, std::int64_t>>;
  Training whole({.epochs = 1, .steps = 12, .validate_every = 5, .folder = folder / "whole"});
  whole.fit();
  CHECK(steps_of(whole) == Steps{{1, 5}, {2, 10}, {3, 12}});
  Training by_epochs({.steps = 10});
  by_epochs.fit();
  CHECK(steps_of(by_epochs) == Steps{{1, 5}, {2, 10}});
  // Gone on from a report that the process did not survive: the checkpoint is written with it.
  TrainerOptions options{.steps = 12, .validate_every = 5, .folder = folder / "parts"};
  struct Died {};
  options.on_step = [](const StepReport& report) {
    if (report.step == 8) throw Died();
  };
  CHECK_THROWS_AS(Training(options).fit(), Died);
  options.on_step = {};
  options.resume = true;
  Training resumed(options);
  resumed.fit();
  CHECK(steps_of(resumed) == steps_of(whole));
  for (const char* name : {"checkpoint.safetensors", "log.csv", "best.safetensors", "curves.svg"}) {
    CHECK(read_text(folder / "parts" / name) == read_text(folder / "whole" / name));
  }
}

TEST_CASE("Ctrl-C ends a training behind a step that is saved, and it goes on bit for bit") {
  const TemporaryFolder folder;
  Training whole({.epochs = 3});
  whole.fit();
  TrainerOptions options{.epochs = 3, .folder = folder / "run", .interruptible = true};
  options.on_step = [](const StepReport& report) {
    if (report.step == 7) std::raise(SIGINT);
  };
  Training first(options);
  try {
    first.fit();
    FAIL("it went on");
  } catch (const Interrupted& stopped) {
    CHECK(stopped.exit_code == 128 + SIGINT);
    CHECK(std::string(stopped.what()) == "stopped after step 7, to be resumed from " + (folder / "run").string());
  }
  options.on_step = {};
  options.resume = true;
  Training second(options);
  second.fit();
  check_equal(second.net.state_dict(), whole.net.state_dict());
}

TEST_CASE("a checkpoint of other settings is refused with all that differ") {
  const TemporaryFolder folder;
  TrainerOptions options{.epochs = 1, .folder = folder / "run", .settings = {{"heads", 2}, {"data", "a"}, {"old", 1}}};
  Training(options).fit();
  options.epochs = 2;
  options.resume = true;
  TrainerOptions other = options;
  other.settings = {{"heads", 4}, {"data", "a"}, {"new", 0.5}};
  Training refused(other);
  CHECK_THROWS_WITH_AS(refused.fit(),
                       ("trainer: " + (folder / "run" / "checkpoint.safetensors").string() +
                        " is of another run: heads: found 2, expected 4; new: found nothing, expected 0.5; "
                        "old: found 1, expected nothing")
                           .c_str(),
                       FormatError);
  CHECK(refused.trainer.steps() == 0);
  Training same(options);
  CHECK(same.fit().size() == 2);
  other.settings = {{"heads", 4}, {"heads", 5}};
  CHECK_THROWS_WITH_AS(Training{other}, "trainer: two settings have the same name", ValueError);
}

TEST_CASE("what is in a checkpoint's way is found before the training") {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "run" / "checkpoint.safetensors");
  Training one({.epochs = 1, .folder = folder / "run"});
  CHECK_THROWS_AS(one.fit(), IoError);
  CHECK(one.trainer.steps() == 0);
}

namespace {

/// The state and the loss of each epoch after training by SGD in some form of batches; each row of the points counts as
/// `weights` says, and a batch's loss is the mean by these weights.
std::pair<NamedArrays, std::vector<double>> accumulated(std::int64_t batch, std::int64_t accumulate, bool ranks,
                                                        const Tensor& weights) {
  const Points points;
  manual_seed(7);
  const Net net;
  net.dropout.eval();
  optim::SGD sgd{net.parameters(), {.lr = 0.5}};
  DataLoader batches{TensorDataset{points.x, points.label, weights}, {.batch_size = batch}};
  std::optional<mpi::World> world;
  std::optional<mpi::DataParallel> parallel;
  if (ranks) parallel.emplace(world.emplace(), net, sgd);
  Trainer trainer{net,
                  sgd,
                  {.epochs = 3,
                   .max_norm = 0.3,
                   .accumulate = accumulate,
                   .gradients = parallel ? parallel->for_trainer() : nullptr,
                   .terminal = {}}};
  trainer.fit(batches, [&](const Tensor& x, const Index& y, const Tensor& w) {
    const Tensor losses = cross_entropy(net(x), y, {.reduction = Reduction::none});
    return WeightedLoss{sum(losses * w) / sum(w), sum(w).item()};
  });
  std::vector<double> losses;
  for (const EpochReport& report : trainer.history()) losses.push_back(report.loss);
  return {net.state_dict(), losses};
}

void check_close(const NamedArrays& a, const NamedArrays& b) {
  for (const auto& [name, array] : a) {
    const Array &x = std::get<Array>(array), &y = std::get<Array>(b.at(name));
    for (std::int64_t i = 0; i < x.size(); ++i) {
      CAPTURE(name);
      CHECK(y.data()[i] == doctest::Approx(x.data()[i]).epsilon(1e-4));
    }
  }
}

}  // namespace

TEST_CASE("accumulated batches count by their samples, or by their tokens, in one process and in a world of one rank") {
  Array tokens(Shape{40}, Real(1));
  for (std::int64_t i = 0; i < 40; ++i) tokens.mutable_data()[i] = static_cast<Real>(1 + i * i % 7);
  for (const Tensor& weights : {Tensor(Array({40}, Real(1))), Tensor(tokens)}) {
    const auto [whole, losses] = accumulated(40, 1, false, weights);
    for (const bool ranks : {false, true}) {
      for (const auto& [batch, count] : {std::pair{6, 7}, {20, 2}, {39, 2}}) {  // 6 batches of 6 and one of 4
        CAPTURE(batch);
        CAPTURE(ranks);
        const auto [parts, part_losses] = accumulated(batch, count, ranks, weights);
        check_close(whole, parts);
        for (std::size_t i = 0; i < 3; ++i) CHECK(part_losses[i] == doctest::Approx(losses[i]).epsilon(1e-5));
      }
    }
  }
}

TEST_CASE("a loss that is a tensor counts by the samples of its batch, whatever the last batch has") {
  const auto trained = [](std::int64_t batch, std::int64_t accumulate) {
    const Points points;
    const nn::Linear map{nn::root, 2, 2};
    map.load_state_dict({{"weight", Array({2, 2}, {1, 0, 0, 1})}, {"bias", Array({2}, Real(0))}});
    optim::SGD sgd{map.parameters(), {.lr = 0.5}};
    DataLoader batches{points.data(), {.batch_size = batch}};
    std::vector<double> losses;
    const auto keep = [&](const StepReport& report) { losses.push_back(report.loss); };
    Trainer trainer{map, sgd, {.epochs = 2, .accumulate = accumulate, .on_step = keep, .terminal = {}}};
    trainer.fit(batches, [&](const Tensor& x, const Index& y) { return cross_entropy(map(x), y); });
    CHECK(trainer.history()[1].loss == losses[1]);
    return std::pair(map.state_dict(), losses);
  };
  const auto [whole, losses] = trained(40, 1);
  const auto [parts, part_losses] = trained(32, 2);  // and 8
  check_close(whole, parts);
  for (std::size_t i = 0; i < 2; ++i) CHECK(part_losses[i] == doctest::Approx(losses[i]).epsilon(1e-5));
}

TEST_CASE("after an error in the middle of an accumulation nothing of it remains") {
  for (const bool ranks : {false, true}) {
    CAPTURE(ranks);
    const auto trained = [&](bool fails) {
      const Points points;
      manual_seed(7);
      const Net net;
      net.dropout.eval();
      optim::SGD sgd{net.parameters(), {.lr = 0.5}};
      DataLoader batches{points.data(), {.batch_size = 8}};
      std::optional<mpi::World> world;
      std::optional<mpi::DataParallel> parallel;
      if (ranks) parallel.emplace(world.emplace(), net, sgd);
      Trainer trainer{
          net,
          sgd,
          {.epochs = 1, .accumulate = 5, .gradients = parallel ? parallel->for_trainer() : nullptr, .terminal = {}}};
      int called = 0;
      const auto loss = [&](const Tensor& x, const Index& y) {
        if (fails && ++called == 3) throw std::runtime_error("no");
        return cross_entropy(net(x), y);
      };
      if (fails) CHECK_THROWS_AS(trainer.fit(batches, loss), std::runtime_error);
      trainer.fit(batches, loss);
      CHECK(trainer.steps() == 1);
      return std::pair(net.state_dict(), trainer.history()[0].loss);
    };
    const auto [clean, loss] = trained(false);
    const auto [again, loss_again] = trained(true);
    check_equal(clean, again);
    CHECK(loss == loss_again);
  }
}

TEST_CASE("batches without weight are left out of an accumulation, and what cannot be weighed is refused") {
  const auto step_of = [](const std::vector<double>& weights, std::int64_t accumulate) {
    const Tensor x = variable(1, "x");
    struct Nothing : nn::Module {
    } module;
    optim::SGD sgd{{x}, {.lr = 1}};
    const Tensor values = Array({std::ssize(weights)}, std::vector<Real>(weights.begin(), weights.end()));
    DataLoader batches{TensorDataset{values}, {.batch_size = 1}};
    Trainer trainer{module, sgd, {.epochs = 1, .accumulate = accumulate, .terminal = {}}};
    trainer.fit(batches, [&](const auto& batch) {
      const Tensor& w = std::get<0>(batch);
      return WeightedLoss{sum(x * w / w), w.item()};  // NaN of weight 0
    });
    return static_cast<double>(x.item());
  };
  CHECK(step_of({0, 2, 0, 3}, 4) == 0);
  CHECK_THROWS_WITH_AS(step_of({1, 0, 0}, 2), "trainer: no loss of step 2 has a weight above 0", ValueError);
  CHECK_THROWS_WITH_AS(step_of({1, -1}, 2), "trainer: a loss of weight -1", ValueError);
  Training training({.epochs = 1, .accumulate = 2});
  struct Batch {
    double scale;  // its first part has no samples
    Tensor x;
    Index y;
  };
  struct Batches {
    DataLoader<TensorDataset<Tensor, Index>>& loader;
    const std::vector<Batch>& all;
    std::int64_t at = 0;
    auto begin() { return all.begin(); }
    auto end() { return all.end(); }
    std::int64_t size() const { return std::ssize(all); }
    std::int64_t position() const { return 0; }
    StateFile state_dict() const { return loader.state_dict(); }
    void load_state_dict(const StateFile& state) { loader.load_state_dict(state); }
  };
  const std::vector<Batch> all(2, {1, training.points.x, training.points.label});
  Batches batches{training.batches, all};
  CHECK_THROWS_WITH_AS(
      training.trainer.fit(batches, [&](const Batch& b) { return cross_entropy(training.net(b.x), b.y) * b.scale; }),
      "trainer: to accumulate batches of this type, let the loss return its weight, too", ValueError);
}

TEST_CASE("a moving average is of the statistics, too, with which the averaged weights are validated and kept") {
  struct Normed : nn::Module {
    nn::Linear in{at("in"), 2, 4};
    nn::BatchNorm1d norm{at("norm"), 4};
    nn::Linear out{at("out"), 4, 2};
    Tensor mask = buffer("mask", Array({1}, -std::numeric_limits<Real>::infinity()));

    Tensor operator()(const Tensor& x) const { return out(relu(norm(in(x)))); }
  };
  const Points points;
  const TemporaryFolder folder;
  manual_seed(7);
  const Normed net;
  optim::SGD sgd{net.parameters(), {.lr = 0.5}};
  DataLoader batches{points.data(), {.batch_size = 8}};
  std::vector<Array> validated, raw, weights;
  std::vector<double> expected;
  const TrainerOptions options{.epochs = 1,
                               .ema = 0.75,
                               .validate =
                                   [&] {
                                     validated.push_back(net.norm.running_mean.value());
                                     weights.push_back(net.in.weight.value());
                                     return 1.0;
                                   },
                               .folder = folder / "run",
                               .on_step =
                                   [&](const StepReport& report) {
                                     raw.push_back(net.norm.running_mean.value());
                                     const auto now = static_cast<double>(raw.back().at({2}));
                                     expected.push_back(report.step == 1 ? now : 0.75 * expected.back() + 0.25 * now);
                                   },
                               .terminal = {}};
  Trainer trainer{net, sgd, options};
  trainer.fit(batches, [&](const Tensor& x, const Index& y) { return cross_entropy(net(x), y); });
  REQUIRE(raw.size() == 5);
  CHECK(validated[0].at({2}) == doctest::Approx(expected.back()).epsilon(1e-5));
  CHECK(equal(net.norm.running_mean.value(), raw.back()));
  CHECK_FALSE(equal(net.in.weight.value(), weights[0]));
  trainer.restore_best();
  CHECK(equal(net.norm.running_mean.value(), validated[0]));
  CHECK(equal(net.in.weight.value(), weights[0]));
  CHECK(net.norm.num_batches_tracked.item() == 5);
  TrainerOptions longer = options;
  longer.epochs = 2;
  longer.resume = true;
  Trainer resumed{net, sgd, longer};
  CHECK(resumed.fit(batches, [&](const Tensor& x, const Index& y) { return cross_entropy(net(x), y); }).size() == 2);
}

TEST_CASE("scores may be measured every few steps, and a run that was stopped between goes on bit for bit") {
  const TemporaryFolder folder;
  const auto options = [&](const char* name) {
    return TrainerOptions{.epochs = 3, .accumulate = 2, .ema = 0.5, .validate_every = 4, .folder = folder / name};
  };
  Training whole(options("whole"));
  whole.fit();
  std::vector<std::pair<std::int64_t, std::int64_t>> reports;
  for (const EpochReport& report : whole.trainer.history()) reports.emplace_back(report.epoch, report.step);
  // 5 batches, 3 steps an epoch; the last report is that of the end.
  CHECK(reports == std::vector<std::pair<std::int64_t, std::int64_t>>{{2, 4}, {3, 8}, {3, 9}});
  for (const std::int64_t stop : {2, 4, 6, 7}) {
    CAPTURE(stop);
    const std::string name = cat("parts", stop);
    TrainerOptions with = options(name.c_str());
    Trainer* running = nullptr;
    with.on_step = [&](const StepReport& report) {
      if (report.step == stop) running->stop();
    };
    {
      Training first(with);
      running = &first.trainer;
      first.fit();
    }
    with.on_step = {};
    with.resume = true;
    Training second(with);
    second.fit();
    check_equal(second.net.state_dict(), whole.net.state_dict());
    for (const char* file : {"checkpoint.safetensors", "log.csv", "best.safetensors", "curves.svg"}) {
      CHECK(read_text(with.folder / file) == read_text(folder / "whole" / file));
    }
  }
}

TEST_CASE("a layer that computes its own loss is called with the parts of a batch") {
  struct Trained : nn::Layer<Trained> {
    using Layer::Layer;
    nn::Linear map{at("map"), 2, 2};
    Tensor forward(const Tensor& x, const Index& label) const { return cross_entropy(map(x), label); }
  };
  const Points points;
  const Trained model{nn::root};
  optim::SGD sgd{model.parameters(), {.lr = 0.5}};
  DataLoader batches{points.data(), eights};
  const double before = static_cast<double>(model(points.x, points.label).item());
  Trainer trainer{model, sgd, {.epochs = 3, .terminal = {}}};
  trainer.fit(batches, model);
  CHECK(static_cast<double>(model(points.x, points.label).item()) < before);
}

TEST_CASE("what the optimizer does not train is said once, where progress is shown") {
  std::ostringstream out;
  const Points points;
  const Net net, other;
  optim::SGD sgd{net.parameters()};
  DataLoader batches{points.data(), eights};
  Trainer trainer{net, sgd, {.epochs = 2, .terminal = {.out = &out}}};
  trainer.fit(batches, [&](const Tensor& x, const Index& y) { return cross_entropy(other(x), y); });
  const std::string text = out.str(), line =
                                          "trainer: the optimizer does not train in.weight [8, 2]: of another instance "
                                          "of the same model: the loss was not computed by the one that is trained\n";
  REQUIRE(text.find(line) != text.npos);
  CHECK(text.find(line, text.find(line) + 1) == text.npos);
}

TEST_CASE("a training that was stopped anywhere goes on bit for bit, in a new process or in the same") {
  const TemporaryFolder folder;
  const TrainerOptions options{.epochs = 4, .schedule = optim::schedule::cosine({.steps = 20}), .max_norm = 0.5};
  Training whole([&] {
    TrainerOptions with = options;
    with.folder = folder / "whole";
    return with;
  }());
  whole.fit();
  for (std::int64_t stop = 1; stop <= 20; ++stop) {
    CAPTURE(stop);
    TrainerOptions with = options;
    with.folder = folder / cat("parts", stop);
    Trainer* running = nullptr;
    with.on_step = [&](const StepReport& report) {
      if (report.step == stop) running->stop();
    };
    {
      Training first(with);
      running = &first.trainer;
      first.fit();
      CHECK(first.trainer.steps() == stop);
      if (stop % 3 == 0) {
        first.fit();
        check_equal(first.net.state_dict(), whole.net.state_dict());
        continue;
      }
    }
    manual_seed(99);
    with.on_step = {};
    with.resume = true;
    Training second(with);
    second.fit();
    check_equal(second.net.state_dict(), whole.net.state_dict());
    for (const char* name : {"checkpoint.safetensors", "log.csv", "best.safetensors", "curves.svg"}) {
      CHECK(read_text(with.folder / name) == read_text(folder / "whole" / name));
    }
    CHECK(second.trainer.history().size() == 4);
    CHECK(second.trainer.best().epoch == whole.trainer.best().epoch);
    CHECK(second.fit().size() == 4);  // there is nothing left to do
  }
}

TEST_CASE("a trainer of one rank does what it does alone, bit for bit") {
  const TrainerOptions options{.epochs = 3, .schedule = optim::schedule::cosine({.steps = 15}), .max_norm = 0.5};
  Training alone(options);
  alone.fit();
  mpi::World world;
  Training other(options);
  mpi::DataParallel parallel(world, other.net, other.adam);
  TrainerOptions with = options;
  with.terminal = {};
  with.validate = [&] { return Scores{{"loss", other.loss()}, {"two", 2}}; };
  with.gradients = parallel.for_trainer();
  Trainer trainer(other.net, other.adam, with);
  manual_seed(7);
  Net().parameters();  // as many draws as alone
  trainer.fit(other.batches, [&](const Tensor& x, const Index& y) { return cross_entropy(other.net(x), y); });
  check_equal(other.net.state_dict(), alone.net.state_dict());
  CHECK(trainer.history().back().loss == alone.trainer.history().back().loss);
  CHECK(trainer.history().back().scores.values == alone.trainer.history().back().scores.values);
}

TEST_CASE("a training of ranks goes on bit for bit, in whole and accumulated batches") {
  const TemporaryFolder folder;
  mpi::World world;
  const auto trained = [&](const char* name, std::int64_t stop, bool resume, std::int64_t accumulate) {
    Training training({});
    mpi::DataParallel parallel(world, training.net, training.adam);
    Trainer* running = nullptr;
    Trainer trainer(training.net, training.adam,
                    {.epochs = 3,
                     .accumulate = accumulate,
                     .validate = [&] { return training.loss(); },
                     .folder = folder / name,
                     .resume = resume,
                     .on_step = [&](const StepReport& report) { report.step == stop ? running->stop() : void(); },
                     .gradients = parallel.for_trainer(),
                     .terminal = {}});
    running = &trainer;
    trainer.fit(training.batches, [&](const Tensor& x, const Index& y) { return cross_entropy(training.net(x), y); });
    return training.net.state_dict();
  };
  for (const std::int64_t accumulate : {1, 2}) {
    const NamedArrays through = trained("through", -1, false, accumulate);
    for (const std::int64_t stop : {1, 4, 6}) {
      trained("parts", stop, false, accumulate);
      manual_seed(99);
      check_equal(trained("parts", -1, true, accumulate), through);
      CHECK(read_text(folder / "parts" / "log.csv") == read_text(folder / "through" / "log.csv"));
    }
  }
}

TEST_CASE("what was measured is in a table and in pictures") {
  const TemporaryFolder folder;
  std::int64_t epochs = 0;
  Training one({.epochs = 2, .folder = folder / "run", .on_epoch = [&](const EpochReport& report) {
                  CHECK(report.epoch == ++epochs);
                }});
  const auto& history = one.fit();
  CHECK(epochs == 2);
  const CsvTable table(folder / "run" / "log.csv");
  CHECK(table.columns() == std::vector<std::string>{"epoch", "step", "train_loss", "lr", "loss", "two"});
  CHECK(table.texts("epoch") == std::vector<std::string>{"1", "2"});
  CHECK(table.texts("step") == std::vector<std::string>{"5", "10"});
  CHECK(table.texts("train_loss") == std::vector<std::string>{number(history[0].loss), number(history[1].loss)});
  CHECK(table.texts("lr") == std::vector<std::string>{"0.05", "0.05"});
  CHECK(table.texts("loss")[1] == number(history[1].scores.values[0].second));
  CHECK(testing::xml_error(read_text(folder / "run" / "curves.svg")).empty());
}

TEST_CASE("the best epoch is kept, and training ends when it gets no better") {
  const std::vector<double> scores{3, 2, 2.5, 2, 2.25, 1};
  std::size_t asked = 0;
  const TemporaryFolder folder;
  TrainerOptions options{.epochs = 6, .patience = 3, .folder = folder / "run"};
  options.validate = [&] { return scores[asked++]; };
  std::vector<NamedArrays> states;
  Training* running = nullptr;
  options.on_epoch = [&](const EpochReport&) { states.push_back(running->net.state_dict()); };
  Training one(options);
  running = &one;
  CHECK_THROWS_WITH_AS(one.trainer.best(), "trainer: no epoch is done yet", ValueError);
  CHECK_THROWS_AS(one.trainer.restore_best(), ValueError);
  CHECK(one.fit().size() == 5);  // the second was the best, the next three were not
  CHECK(one.trainer.best().epoch == 2);
  CHECK(one.trainer.best().scores.values[0] == std::pair<std::string, double>("validation", 2));
  check_equal(one.net.state_dict(), states[4]);
  one.trainer.restore_best();
  check_equal(one.net.state_dict(), states[1]);
  check_equal(load_safetensors((folder / "run" / "best.safetensors").string()).arrays, states[1]);

  asked = 0;
  options.patience = 0;
  options.goal = Goal::greatest;
  options.folder.clear();
  Training greatest(options);
  running = &greatest;
  CHECK(greatest.fit().size() == 6);
  CHECK(greatest.trainer.best().epoch == 1);
}

TEST_CASE("progress is shown where it is wanted") {
  std::ostringstream out;
  const Points points;
  Net net;
  optim::SGD sgd{net.parameters()};
  DataLoader batches{points.data(), eights};
  Trainer trainer{net, sgd, {.epochs = 2, .terminal = {.out = &out}}};
  trainer.fit(batches, [&](const auto& batch) { return cross_entropy(net(std::get<0>(batch)), std::get<1>(batch)); });
  // Where a line cannot be drawn over, one for each epoch.
  CHECK(std::ranges::count(out.str(), '\n') == 2);
  CHECK(out.str().find("epoch 2/2  loss 0.") != std::string::npos);
  CHECK(trainer.best().scores.values.empty());
  std::ostringstream bar;
  Trainer drawn{net,
                sgd,
                {.epochs = 1,
                 .validate =
                     [] {
                       return Scores{{"accuracy", 0.5}};
                     },
                 .terminal = {.out = &bar, .redraws = true, .columns = 100}}};
  drawn.fit(batches, [&](const auto& batch) { return cross_entropy(net(std::get<0>(batch)), std::get<1>(batch)); });
  CHECK(bar.str().find("5/5") != std::string::npos);
}

TEST_CASE("a trainer refuses what it cannot do") {
  const TemporaryFolder folder;
  const Points points;
  Net net;
  optim::SGD sgd{net.parameters()};
  const auto refused = [&](const TrainerOptions& options, const char* message) {
    CHECK_THROWS_WITH_AS(Trainer(net, sgd, options), message, ValueError);
  };
  refused({.epochs = -1}, "trainer: epochs must be at least 0, got -1");
  refused({.steps = -1}, "trainer: steps must be at least 0, got -1");
  refused({.max_norm = -1}, "trainer: max_norm must be at least 0, got -1");
  refused({.patience = -1}, "trainer: patience must be at least 0, got -1");
  refused({.accumulate = 0}, "trainer: accumulate 0 is not positive");
  refused({.ema = 1}, "trainer: ema 1 is not in [0, 1)");
  refused({.validate_every = -1}, "trainer: validate_every -1 is negative");
  refused({.resume = true}, "trainer: nothing to resume from without a folder");

  DataLoader batches{points.data(), eights};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Trainer trainer{net, sgd, {.terminal = {}}};
  CHECK_THROWS_WITH_AS(
      trainer.fit(batches, [&](const Tensor& x, const Index&) { return sum(net(x)) * static_cast<Real>(nan); }),
      "trainer: the loss of step 1 is nan", NumericError);
  const auto loss = [&](const Tensor& x, const Index& y) { return cross_entropy(net(x), y); };
  Trainer wrong{net, sgd, {.validate = [&] { return nan; }, .terminal = {}}};
  CHECK_THROWS_WITH_AS(wrong.fit(batches, loss), "trainer: the score validation is nan", NumericError);
  int asked = 0;
  Trainer other{net, sgd, {.validate = [&] { return Scores{{asked++ == 0 ? "a" : "b", 1}}; }, .terminal = {}}};
  CHECK_THROWS_WITH_AS(
      other.fit(batches, loss),
      "trainer: validate must measure the same scores after each epoch: [epoch, step, train_loss, lr, a], "
      "now [epoch, step, train_loss, lr, b]",
      ValueError);
}

TEST_CASE("a checkpoint that does not fit is refused, and nothing has changed") {
  const TemporaryFolder folder;
  const auto path = folder / "run" / "checkpoint.safetensors";
  { Training({.epochs = 1, .folder = folder / "run"}).fit(); }
  const StateFile good = load_safetensors(path.string());
  const auto refused = [&](const auto& change) {
    StateFile bad = good;
    change(bad);
    save_safetensors(path.string(), bad);
    Training again({.epochs = 2, .folder = folder / "run", .resume = true});
    const NamedArrays before = again.net.state_dict();
    CHECK_THROWS_AS(again.fit(), FormatError);
    check_equal(again.net.state_dict(), before);
    CHECK(again.trainer.history().empty());
  };
  refused([](StateFile& file) { file.metadata["step"] = "five"; });
  refused([](StateFile& file) { file.metadata["step"] = "-5"; });
  refused([](StateFile& file) { file.metadata["step"] = "5,6"; });
  refused([](StateFile& file) { file.metadata["scores"] = "3"; });
  refused([](StateFile& file) { file.metadata["history"] = "1,2,x"; });
  refused([](StateFile& file) { file.metadata.erase("score 0"); });
  refused([](StateFile& file) { file.arrays.erase("model.in.weight"); });
  refused([](StateFile& file) { file.arrays["model.in.weight"] = Array(Shape{3}, 0); });
  refused([](StateFile& file) { file.arrays["batches.position"] = Index({2}, {0, 99}); });
  refused([](StateFile& file) { file.metadata["batches.settings"] = "another"; });
  refused([](StateFile& file) { file.arrays.erase("optimizer.in.weight.step"); });
  save_safetensors(path.string(), good);
  CHECK(Training({.epochs = 2, .folder = folder / "run", .resume = true}).fit().size() == 2);
}

TEST_CASE("a trainer trains a module that was switched to eval(), and switches it back") {
  Training one({.epochs = 1}), other({.epochs = 1});
  manual_seed(9);
  one.fit();
  manual_seed(9);
  other.net.eval();
  other.fit();
  CHECK(!other.net.training());
  CHECK(!other.net.dropout.training());
  CHECK(one.net.training());
  check_equal(one.net.state_dict(), other.net.state_dict());
  // A part that was left in eval() on purpose stays there.
  Training part({.epochs = 1});
  part.net.dropout.eval();
  const RandomState random = random_state();
  part.fit();
  CHECK(random_state() == random);
  CHECK(!part.net.dropout.training());
}

TEST_CASE("a trainer leaves frozen parameters as they are and does not mind those without use") {
  struct Two : nn::Module {
    nn::Linear a{at("a"), 2, 2}, b{at("b"), 2, 2}, unused{at("unused"), 2, 2};
    Tensor operator()(const Tensor& x) const { return b(a(x)); }
  } net;
  const Points points;
  optim::SGD sgd{net.parameters(), {.lr = 0.1}};
  optim::freeze(net.parameters(), "a.*");
  const NamedArrays before = net.state_dict();
  DataLoader batches{points.data(), eights};
  Trainer trainer{net, sgd, {.epochs = 1, .max_norm = 0.5, .terminal = {}}};
  trainer.fit(batches, [&](const Tensor& x, const Index& y) { return cross_entropy(net(x), y); });
  const NamedArrays after = net.state_dict();
  const auto moved = [&](const char* name) {
    return !equal(std::get<Array>(before.at(name)), std::get<Array>(after.at(name)));
  };
  CHECK(!moved("a.weight"));
  CHECK(moved("b.weight"));
  CHECK(!moved("unused.weight"));
}

}  // namespace xgrad::kit
