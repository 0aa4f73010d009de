// The trainer: it trains the same as a loop by hand; resumed from everywhere, bit for bit; ends, files, errors.
#include <doctest/doctest.h>

#include <cmath>
#include <csignal>
#include <iostream>
#include <numeric>
#include <sstream>
#include <thread>

#include <nlohmann/json.hpp>

#include <xgrad/kit/data/data_loader.h>
#include <xgrad/kit/files/csv_table.h>
#include <xgrad/kit/mpi/data_parallel.h>
#include <xgrad/kit/train/trainer.h>
#include <xgrad/kit/train/trials.h>
#include <xgrad/xgrad.h>

#include "support.h"

namespace xgrad::kit {
namespace {

using testing::read_text;
using testing::TemporaryFolder;
using Reports = std::vector<std::pair<std::int64_t, std::int64_t>>;

struct Net : nn::Module {
  nn::Linear in{at("in"), 2, 8};
  nn::Dropout dropout{at("dropout"), 0.2};
  nn::Linear out{at("out"), 8, 2};

  Tensor operator()(const Tensor& x) const { return out(dropout(tanh(in(x)))); }

  static Net seeded() {
    manual_seed(7);
    return Net();
  }
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

template <class Model>
auto loss_of(const Model& model) {
  return [&model](const Tensor& x, const Index& y) { return cross_entropy(model(x), y); };
}

/// Everything of one training, made new, with `ranks` in a world of one; it stops itself after the step `stop`.
struct Training {
  Points points;
  Net net = Net::seeded();
  optim::AdamW adam{net.parameters(), {.lr = 0.05}};
  DataLoader<TensorDataset<Tensor, Index>> batches{points.data(), eights};
  std::optional<mpi::World> world;
  std::optional<mpi::DataParallel> parallel;
  Trainer trainer;

  explicit Training(const TrainerOptions& options, bool ranks = false, std::int64_t stop = 0)
      : trainer(net, adam, with(options, ranks, stop)) {}

  const std::vector<Report>& fit() { return trainer.fit(batches, loss_of(net)); }
  double loss() const { return static_cast<double>(cross_entropy(net(points.x), points.label).item()); }
  /// Epoch and step of each report.
  Reports reports() const {
    Reports found;
    for (const Report& report : trainer.history()) found.emplace_back(report.epoch, report.step);
    return found;
  }

 private:
  TrainerOptions with(TrainerOptions options, bool ranks, std::int64_t stop) {
    options.terminal = {};
    if (ranks) options.gradients = parallel.emplace(world.emplace(), net, adam).for_trainer();
    if (!options.validate) {
      options.validate = [this] { return Scores{{"loss", loss()}, {"two", 2}}; };
    }
    if (stop > 0) {
      options.on_step = [this, stop](const StepReport& report) {
        if (report.step == stop) trainer.stop();
      };
    }
    return options;
  }
};

/// A model that is trained on the points by SGD, as it is.
struct Descent {
  Points points;
  optim::SGD sgd;
  DataLoader<TensorDataset<Tensor, Index>> batches{points.data(), eights};
  Trainer trainer;

  Descent(const nn::Module& model, const TrainerOptions& options)
      : sgd(model.parameters(), {.lr = 0.5}), trainer(model, sgd, options) {}
};

void check_equal(const NamedArrays& a, const NamedArrays& b) {
  REQUIRE(a.size() == b.size());
  for (const auto& [name, array] : a) CHECK(equal(std::get<Array>(array), std::get<Array>(b.at(name))));
}

/// That the second training, in a folder of its own, ended as the first did.
void check_same(const Training& a, const std::filesystem::path& of_a, const Training& b,
                const std::filesystem::path& of_b) {
  check_equal(a.net.state_dict(), b.net.state_dict());
  CHECK(a.reports() == b.reports());
  CHECK(a.trainer.best().epoch == b.trainer.best().epoch);
  for (const char* name : {"checkpoint.safetensors", "log.csv", "best.safetensors", "curves.svg"}) {
    CHECK(read_text(of_a / name) == read_text(of_b / name));
  }
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
  const Net net = Net::seeded();
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
  CHECK_REFUSED(ValueError, one.trainer.run(one.batches, nothing), "trainer", "max_norm is for fit()", "clips itself");
  Training twice({.accumulate = 2}), wrong({.epochs = 1});
  CHECK_REFUSED(ValueError, twice.trainer.run(twice.batches, nothing), "trainer", "accumulate is for fit()",
                "adds up itself");
  Training ranks({.gradients = [](const auto&...) { return LossGradients(); }});
  CHECK_REFUSED(ValueError, ranks.trainer.run(ranks.batches, nothing), "trainer", "gradients is for fit()");
  CHECK_REFUSED(NumericError, wrong.trainer.run(wrong.batches, [](const auto&) { return std::nan(""); }), "trainer",
                "the loss of step 1 is nan");
}

TEST_CASE(
    "a training that was stopped anywhere goes on bit for bit, in a new process or in the same, alone or with ranks") {
  struct Run {
    TrainerOptions options;
    bool ranks;
    std::vector<std::int64_t> stops;
    Reports reports;
  };
  std::vector<std::int64_t> anywhere(20);
  std::iota(anywhere.begin(), anywhere.end(), 1);
  const std::vector<Run> runs{
      {{.epochs = 4, .schedule = optim::schedule::cosine({.steps = 20}), .max_norm = 0.5},
       false,
       anywhere,
       {{1, 5}, {2, 10}, {3, 15}, {4, 20}}},
      // 5 batches, 3 steps an epoch; the last report is that of the end.
      {{.epochs = 3, .accumulate = 2, .ema = 0.5, .validate_every = 4}, false, {2, 4, 6, 7}, {{2, 4}, {3, 8}, {3, 9}}},
      {{.epochs = 3}, true, {1, 4, 6}, {{1, 5}, {2, 10}, {3, 15}}},
      {{.epochs = 3, .accumulate = 2}, true, {1, 4, 6}, {{1, 3}, {2, 6}, {3, 9}}}};
  for (const Run& run : runs) {
    CAPTURE(run.ranks);
    CAPTURE(run.options.accumulate);
    const TemporaryFolder folder;
    TrainerOptions with = run.options;
    with.folder = folder / "whole";
    Training whole(with, run.ranks);
    whole.fit();
    CHECK(whole.reports() == run.reports);
    for (const std::int64_t stop : run.stops) {
      CAPTURE(stop);
      with.folder = folder / str("parts", stop);
      with.resume = false;
      {
        Training first(with, run.ranks, stop);
        first.fit();
        CHECK(first.trainer.steps() == stop);
        if (stop % 3 == 0) {
          first.fit();
          check_same(first, with.folder, whole, folder / "whole");
          continue;
        }
      }
      manual_seed(99);
      with.resume = true;
      Training second(with, run.ranks);
      second.fit();
      check_same(second, with.folder, whole, folder / "whole");
      CHECK(second.fit().size() == run.reports.size());  // there is nothing left to do
    }
  }
}

TEST_CASE("steps end a training in the middle of an epoch, and the last of them is reported") {
  const TemporaryFolder folder;
  Training whole({.epochs = 1, .steps = 12, .validate_every = 5, .folder = folder / "whole"});
  whole.fit();
  CHECK(whole.reports() == Reports{{1, 5}, {2, 10}, {3, 12}});
  Training by_epochs({.steps = 10});
  by_epochs.fit();
  CHECK(by_epochs.reports() == Reports{{1, 5}, {2, 10}});
  Training even({.epochs = 2, .validate_every = 5}), each({.steps = 2, .validate_every = 1}), none({.epochs = 0});
  even.fit();
  CHECK(even.reports() == Reports{{1, 5}, {2, 10}});
  each.fit();
  CHECK(each.reports() == Reports{{1, 1}, {1, 2}});
  CHECK(none.fit().empty());
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
  check_same(resumed, folder / "parts", whole, folder / "whole");
}

TEST_CASE("a training without a loader has steps alone, and goes on bit for bit") {
  const TemporaryFolder folder;
  struct Run {
    Points points;
    Net net = Net::seeded();
    optim::AdamW adam{net.parameters(), {.lr = 0.05}};
    Trainer trainer;

    explicit Run(const TrainerOptions& options) : trainer(net, adam, options) {}
    Tensor loss() const {
      const Index rows = randint(0, 40, {8});
      return cross_entropy(net(points.x[rows]), points.label[rows]);
    }
    const std::vector<Report>& fit(int steps) {
      return trainer.fit(steps, [&] { return loss(); });
    }
  };
  TrainerOptions options{.max_norm = 0.5, .validate_every = 5, .folder = folder / "whole", .terminal = {}};
  Run whole(options);
  const std::vector<Report> reports = whole.fit(12);
  REQUIRE(reports.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(reports[i].step == std::vector{5, 10, 12}[i]);
    CHECK(reports[i].epoch == 1);
  }
  CHECK(CsvTable(folder / "whole" / "log.csv").texts("step") == std::vector<std::string>{"5", "10", "12"});
  testing::check_labels(read_text(folder / "whole" / "curves.svg"), 1, {"step"});

  Run by_hand({.terminal = {}});
  for (int step = 0; step < 12; ++step) {
    const Tensors parameters = by_hand.net.parameters();
    by_hand.adam.step(optim::clip_grad_norm(grad(by_hand.loss(), parameters), parameters, 0.5).gradients);
  }
  check_equal(whole.net.state_dict(), by_hand.net.state_dict());

  options.folder = folder / "parts";
  options.on_step = [&](const StepReport& report) {
    if (report.step == 7) std::raise(SIGINT);
  };
  options.interruptible = true;
  CHECK_THROWS_AS(Run(options).fit(12), Interrupted);
  manual_seed(99);
  options.on_step = {};
  options.resume = true;
  std::ostringstream out;
  options.terminal = {.out = &out};
  Run resumed(options);
  resumed.fit(12);
  CHECK(out.str().starts_with("going on after step 7\nstep "));  // 12, on a slow machine others before it
  CHECK(out.str().find("\nstep 12  loss ") != std::string::npos);
  check_equal(resumed.net.state_dict(), whole.net.state_dict());
  CHECK(read_text(folder / "parts" / "log.csv") == read_text(folder / "whole" / "log.csv"));
  CHECK(resumed.fit(12).size() == 3);
  CHECK(testing::count_of("going on", out.str()) == 1);

  Run patient({.validate = [] { return 1.0; }, .validate_every = 2, .patience = 2, .terminal = {}});
  CHECK(patient.fit(100).size() == 3);
  CHECK(patient.trainer.steps() == 6);
  Run thrice({.accumulate = 3, .terminal = {}});
  int called = 0;
  thrice.trainer.fit(4, [&] { return ++called, thrice.loss(); });
  CHECK(called == 12);
  CHECK(thrice.fit(0).size() == 1);
  CHECK_REFUSED(ValueError, thrice.fit(-1), "trainer", "steps must be at least 0, got -1");
  std::vector<std::int64_t> numbers;
  TrainerOptions counted{.accumulate = 2, .terminal = {}};
  counted.gradients = [&](std::int64_t number, const std::function<WeightedLoss()>& loss_of_batch) {
    numbers.push_back(number);
    const Tensor loss = loss_of_batch().loss;
    return LossGradients{static_cast<double>(loss.item()), 1, grad(loss, patient.net.parameters())};
  };
  Trainer numbered{patient.net, patient.adam, counted};
  numbered.fit(3, [&] { return patient.loss(); });
  CHECK(numbers == std::vector<std::int64_t>{0, 1, 2, 3, 4, 5});
}

TEST_CASE("Ctrl-C ends a training behind a step, with the status of the signal and where it goes on from") {
  const TemporaryFolder folder;
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
  options = {.epochs = 3, .interruptible = true};
  options.on_step = [](const StepReport&) { std::raise(SIGTERM); };
  Training nowhere(options);
  CHECK(xgrad::testing::error_of<Interrupted>([&] { nowhere.fit(); }) == "stopped after step 1");
}

TEST_CASE("a checkpoint with other attributes is refused with all that differ") {
  const TemporaryFolder folder;
  TrainerOptions options{.epochs = 1, .folder = folder / "run", .attributes = {{"heads", 2}, {"data", "a"}, {"old", 1}}};
  Training(options).fit();
  options.epochs = 2;
  options.resume = true;
  TrainerOptions other = options;
  other.attributes = {{"heads", 4}, {"data", "a"}, {"new", 0.5}};
  Training refused(other);
  CHECK_REFUSED(FormatError, refused.fit(), "trainer", (folder / "run" / "checkpoint.safetensors").string(),
                "is of another run: heads: found 2, expected 4; new: found nothing, expected 0.5; "
                "old: found 1, expected nothing");
  CHECK(refused.trainer.steps() == 0);
  Training same(options);
  CHECK(same.fit().size() == 2);
  other.attributes = {{"heads", 4}, {"heads", 5}};
  CHECK_REFUSED(ValueError, Training{other}, "trainer", "two attributes have the same name");
}

TEST_CASE("a checkpoint is refused by a trainer with other options on which results depend, in both directions") {
  const TrainerOptions plain{.epochs = 2};
  TrainerOptions all{.epochs = 2, .max_norm = 0.5, .accumulate = 2, .ema = 0.75, .goal = Goal::greatest};
  all.schedule = optim::schedule::cosine({.steps = 32});
  const auto refused = [](TrainerOptions first, TrainerOptions second, const std::string& reason,
                          const std::string& more = "") {
    const TemporaryFolder folder;
    first.folder = second.folder = folder / "run";
    Training(first, false, 3).fit();
    second.resume = true;
    Training again(second);
    const NamedArrays before = again.net.state_dict();
    const double lr = again.adam.lr();
    CHECK_REFUSED(FormatError, again.fit(), "trainer", "is of another run: " + reason, more);
    check_equal(again.net.state_dict(), before);
    CHECK(again.adam.lr() == lr);
    CHECK(again.trainer.steps() == 0);
    first.resume = true;
    CHECK(!Training(first).fit().empty());
  };
  refused(all, plain,
          ".accumulate: found 2, expected nothing; .ema: found 0.75, expected nothing; "
          ".goal: found greatest, expected nothing; .max_norm: found 0.5, expected nothing; "
          ".schedule: found a schedule, expected nothing");
  refused(plain, all,
          ".accumulate: found nothing, expected 2; .ema: found nothing, expected 0.75; "
          ".goal: found nothing, expected greatest; .max_norm: found nothing, expected 0.5; "
          ".schedule: found nothing, expected a schedule");
  TrainerOptions other = all;
  other.max_norm = 0.25;
  refused(all, other, ".max_norm: found 0.5, expected 0.25");
  other = all;
  other.schedule = optim::schedule::cosine({.steps = 64});
  refused(all, other, ".schedule: found the rate 0.0489235", " for step 4, expected 0.04972");
}

TEST_CASE("a resumed training writes the rows of its table that are missing") {
  const TemporaryFolder folder;
  TrainerOptions options{.epochs = 3, .folder = folder / "run"};
  Training(options).fit();
  const auto path = folder / "run" / "log.csv";
  const std::string whole = read_text(path);
  const std::size_t header = whole.find('\n') + 1;
  options.resume = true;
  for (const std::string& left : {std::string(), whole.substr(0, header / 2), whole.substr(0, header),
                                  whole.substr(0, whole.size() - 3), whole + "4,20,0.1,0.05,0.1,2\n"}) {
    CAPTURE(left);
    xgrad::testing::write_text(path, left);
    Training(options).fit();
    CHECK(read_text(path) == whole);
  }
  xgrad::testing::write_text(path, whole.substr(0, header));
  options.epochs = 4;
  Training(options).fit();
  CHECK(read_text(path).starts_with(whole));
  CHECK(CsvTable(path).texts("step") == std::vector<std::string>{"5", "10", "15", "20"});
}

namespace {

/// How batches are added up to the steps of three epochs of SGD, and what each row of the points counts.
struct Accumulation {
  std::int64_t batch = 40, accumulate = 1;
  bool ranks = false, counts_samples = false;  ///< whether the loss is a tensor, or says its weight
  Tensor weights = ones({40});
  int fails = 0;  ///< the batch, from 1 on, whose loss is an error at first
};

/// The state and the loss of each epoch.
std::pair<NamedArrays, std::vector<double>> accumulated(const Accumulation& how) {
  const Points points;
  const Net net = Net::seeded();
  net.dropout.eval();
  optim::SGD sgd{net.parameters(), {.lr = 0.5}};
  DataLoader batches{TensorDataset{points.x, points.label, how.weights}, {.batch_size = how.batch}};
  std::optional<mpi::World> world;
  std::optional<mpi::DataParallel> parallel;
  TrainerOptions options{.epochs = 3, .max_norm = 0.3, .accumulate = how.accumulate, .terminal = {}};
  if (how.ranks) options.gradients = parallel.emplace(world.emplace(), net, sgd).for_trainer();
  Trainer trainer{net, sgd, options};
  int called = 0;
  const auto weighted = [&](const Tensor& x, const Index& y, const Tensor& w) {
    if (++called == how.fails) throw std::runtime_error("no");
    const Tensor losses = cross_entropy(net(x), y, {.reduction = Reduction::none});
    return WeightedLoss{sum(losses * w) / sum(w), sum(w).item()};
  };
  // Nothing in such a batch tells the number of its samples: the loader does.
  struct Scaled {
    double scale;
    Tensor x;
    Index y;
  };
  const auto scaled = [](const std::vector<std::tuple<Tensor, Index>>& samples) {
    const auto [x, y] = default_collate(samples);
    return Scaled{1, x, y};
  };
  DataLoader counted{points.data(), {.batch_size = how.batch}, scaled};
  if (how.fails > 0) CHECK_THROWS_AS(trainer.fit(batches, weighted), std::runtime_error);
  if (how.counts_samples) {
    trainer.fit(counted, [&](const Scaled& batch) { return cross_entropy(net(batch.x), batch.y) * batch.scale; });
  } else {
    trainer.fit(batches, weighted);
  }
  std::vector<double> losses;
  for (const Report& report : trainer.history()) losses.push_back(report.loss);
  return {net.state_dict(), losses};
}

void check_close(const Accumulation& a, const Accumulation& b) {
  const auto [state, losses] = accumulated(a);
  const auto [expected, expected_losses] = accumulated(b);
  for (const auto& [name, array] : expected) {
    xgrad::testing::check_close(std::get<Array>(state.at(name)), std::get<Array>(array), 1e-5);
  }
  for (std::size_t i = 0; i < 3; ++i) CHECK(losses[i] == doctest::Approx(expected_losses[i]).epsilon(1e-5));
}

}  // namespace

TEST_CASE("accumulated batches count by their samples, or by their tokens, in one process and in a world of one rank") {
  Array tokens(Shape{40}, Real(1));
  for (std::int64_t i = 0; i < 40; ++i) tokens.mutable_data()[i] = static_cast<Real>(1 + i * i % 7);
  for (const Tensor& weights : {ones({40}), Tensor(tokens), ones({40}) / 64}) {
    for (const bool ranks : {false, true}) {
      for (const int batch : {6, 20, 39}) {
        const int count = (39 + batch) / batch;  // also 6 batches of 6 and one of 4
        CAPTURE(batch);
        CAPTURE(ranks);
        check_close({.batch = batch, .accumulate = count, .ranks = ranks, .weights = weights}, {.weights = weights});
      }
    }
  }
  // A loss that is a tensor counts by the samples of its batch, of which the last one has 8.
  check_close({.batch = 32, .accumulate = 2, .counts_samples = true}, {.counts_samples = true});
}

TEST_CASE("after an error in the middle of an accumulation nothing of it remains") {
  for (const bool ranks : {false, true}) {
    CAPTURE(ranks);
    const auto [clean, losses] = accumulated({.batch = 8, .accumulate = 5, .ranks = ranks});
    const auto [again, losses_again] = accumulated({.batch = 8, .accumulate = 5, .ranks = ranks, .fails = 3});
    check_equal(clean, again);
    CHECK(losses == losses_again);
  }
}

TEST_CASE("batches without weight are left out of the training, and weights below 0 are refused") {
  std::int64_t steps = 0;
  const auto step_of = [&](const std::vector<double>& weights, std::int64_t accumulate) {
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
    steps = trainer.steps();
    return static_cast<double>(x.item());
  };
  CHECK(step_of({0, 2, 0, 3}, 4) == 0);
  CHECK(steps == 1);
  CHECK(step_of({0, 2, 0, 3}, 1) == -1);
  CHECK(steps == 2);
  CHECK(step_of({1, 0, 0, 0, 0}, 2) == 0);  // the second step and the third are of such batches alone
  CHECK(steps == 1);
  CHECK_REFUSED(ValueError, step_of({0, 0, 0}, 2), "trainer", "no loss of epoch 1 has a weight above 0");
  CHECK_REFUSED(ValueError, step_of({1, -1}, 2), "trainer", "a loss of weight -1");
  Training later({.epochs = 3});
  const auto first_epoch_alone = [&](const Tensor& x, const Index& y) {
    return WeightedLoss{cross_entropy(later.net(x), y), later.trainer.steps() < 5};
  };
  CHECK_REFUSED(ValueError, later.trainer.fit(later.batches, first_epoch_alone), "trainer",
                "no loss of epoch 2 has a weight above 0");
  Training without_loader({});
  const Tensor w = without_loader.net.parameters()[0];
  CHECK_REFUSED(ValueError, without_loader.trainer.fit(3, [&] { return WeightedLoss{sum(w), 0}; }), "trainer",
                "no loss of step 1 has a weight above 0");
}

TEST_CASE("a moving average is of the statistics, too, with which the averaged weights are validated and kept") {
  struct Normed : nn::Module {
    nn::Linear in{at("in"), 2, 4};
    nn::BatchNorm1d norm{at("norm"), 4};
    nn::Linear out{at("out"), 4, 2};
    Tensor mask = buffer("mask", Array({1}, -std::numeric_limits<Real>::infinity()));

    Tensor operator()(const Tensor& x) const { return out(relu(norm(in(x)))); }
  };
  const TemporaryFolder folder;
  manual_seed(7);
  const Normed net;
  std::vector<Array> validated, raw, weights;
  std::vector<double> expected;
  TrainerOptions options{.epochs = 1, .ema = 0.75, .folder = folder / "run", .terminal = {}};
  options.validate = [&] {
    validated.push_back(net.norm.running_mean.value());
    weights.push_back(net.in.weight.value());
    return 1.0;
  };
  options.on_step = [&](const StepReport& report) {
    raw.push_back(net.norm.running_mean.value());
    const auto now = static_cast<double>(raw.back().at({2}));
    expected.push_back(report.step == 1 ? now : 0.75 * expected.back() + 0.25 * now);
  };
  Descent one(net, options);
  one.trainer.fit(one.batches, loss_of(net));
  REQUIRE(raw.size() == 5);
  CHECK(validated[0].at({2}) == doctest::Approx(expected.back()).epsilon(1e-5));
  CHECK(equal(net.norm.running_mean.value(), raw.back()));
  CHECK_FALSE(equal(net.in.weight.value(), weights[0]));
  one.trainer.restore_best();
  CHECK(equal(net.norm.running_mean.value(), validated[0]));
  CHECK(equal(net.in.weight.value(), weights[0]));
  CHECK(net.norm.num_batches_tracked.item() == 5);
  options.epochs = 2;
  options.resume = true;
  Descent resumed(net, options);
  CHECK(resumed.trainer.fit(resumed.batches, loss_of(net)).size() == 2);
}

TEST_CASE("a layer that computes its own loss is called with the parts of a batch") {
  struct Trained : nn::Layer<Trained> {
    using Layer::Layer;
    nn::Linear map{at("map"), 2, 2};
    Tensor forward(const Tensor& x, const Index& label) const { return cross_entropy(map(x), label); }
  };
  const Trained model{nn::root};
  Descent one(model, {.epochs = 3, .terminal = {}});
  const Real before = model(one.points.x, one.points.label).item();
  one.trainer.fit(one.batches, model);
  CHECK(model(one.points.x, one.points.label).item() < before);
}

TEST_CASE("what the optimizer does not train is said once, where progress is shown") {
  std::ostringstream out;
  const Net net, other;
  Descent one(net, {.epochs = 2, .terminal = {.out = &out}});
  one.trainer.fit(one.batches, loss_of(other));
  CHECK(testing::count_of(
            "trainer: the optimizer does not train in.weight [8, 2]: of another instance of the same model: "
            "the loss was not computed by the one that is trained\n",
            out.str()) == 1);
}

TEST_CASE("what was measured is in a table") {
  const TemporaryFolder folder;
  std::int64_t epochs = 0;
  Training one({.epochs = 2, .folder = folder / "run", .on_report = [&](const Report& report) {
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
}

TEST_CASE("the best epoch is kept, and training ends when it gets no better") {
  const std::vector<double> scores{3, 2, 2.5, 2, 2.25, 1};
  std::size_t asked = 0;
  const TemporaryFolder folder;
  TrainerOptions options{.epochs = 6, .patience = 3, .folder = folder / "run"};
  options.validate = [&] { return scores[asked++]; };
  std::vector<NamedArrays> states;
  Training* running = nullptr;
  options.on_report = [&](const Report&) { states.push_back(running->net.state_dict()); };
  Training one(options);
  running = &one;
  CHECK_REFUSED(ValueError, one.trainer.best(), "trainer", "no epoch is done yet");
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

  asked = 0;
  options.epochs = 3;
  options.validate = [&] { return asked++ == 0 ? 1 : 3; };
  Training equals(options);
  running = &equals;
  equals.fit();
  CHECK(equals.trainer.best().epoch == 2);  // the first of equals

  const Net net = Net::seeded();
  Descent steady(net, {.epochs = 3, .terminal = {}});
  steady.trainer.run(steady.batches, [](const auto&) { return 0.5; });
  CHECK(steady.trainer.best().epoch == 1);
  CHECK(steady.trainer.best().scores.values.empty());
  Descent impatient(net, {.epochs = 9, .patience = 1, .terminal = {}});
  CHECK(impatient.trainer.run(impatient.batches, [](const auto&) { return 0.5; }).size() == 2);
}

TEST_CASE("patience ends a training in the middle of an epoch, too, and more patience goes on from there") {
  for (const bool by_steps : {false, true}) {
    const TemporaryFolder folder;
    TrainerOptions options{.epochs = by_steps ? 1 : 4, .steps = by_steps ? 20 : 0, .folder = folder / "run"};
    std::int64_t asked = 0;
    options.validate = [&] { return asked++; };
    options.validate_every = 2;
    options.patience = 3;
    Training one(options);
    one.fit();
    CHECK(one.reports() == Reports{{1, 2}, {1, 4}, {2, 6}, {2, 8}});
    CHECK(one.fit().size() == 4);
    options.patience = 4;
    options.resume = true;
    Training more(options);
    more.fit();
    CHECK(more.reports() == Reports{{1, 2}, {1, 4}, {2, 6}, {2, 8}, {2, 10}});
  }
}

TEST_CASE("a bar counts the steps that are planned, and lines tell where the training is") {
  const auto shown = [](TrainerOptions options, bool redraws) {
    std::ostringstream out;
    options.terminal = {.out = &out, .redraws = redraws, .columns = 200};
    const Net net;
    Descent one(net, options);
    one.trainer.run(one.batches, [](const auto&) { return 0.5; });
    const std::string text = out.str();
    return redraws ? text.substr(text.rfind('\r') + 1) : text;
  };
  const auto holds = [](const std::string& text, std::initializer_list<const char*> parts) {
    for (const char* part : parts) CHECK_MESSAGE(text.find(part) != std::string::npos, part, " in ", text);
  };
  holds(shown({.epochs = 7, .steps = 1}, true), {"training =", "  1/1  loss 0.5000  "});
  holds(shown({.epochs = 2}, true), {"  10/10  epoch 2/2  loss 0.5000  "});
  CHECK(shown({.epochs = 3}, false) == "epoch 1/3  loss 0.5000  0:00\nepoch 3/3  loss 0.5000  0:00\n");
  CHECK(shown({.steps = 7, .validate = [] { return 0.25; }, .validate_every = 3}, false) ==
        "step 3  loss 0.5000  validation 0.2500  0:00\nstep 7  loss 0.5000  validation 0.2500  0:00\n");
  CHECK(shown({.epochs = 1, .validate_every = 4}, false) ==
        "epoch 1/1  step 4  loss 0.5000  0:00\nepoch 1/1  step 5  loss 0.5000  0:00\n");
  const TemporaryFolder folder;
  const std::string begun = shown({.epochs = 1, .folder = folder / "a", .resume = true}, false);
  CHECK(begun.starts_with("no checkpoint in " + (folder / "a").string() + ": starting anew\n"));
  const std::string again = shown({.epochs = 2, .folder = folder / "a", .resume = true}, false);
  CHECK(again.starts_with("going on after step 5, in epoch 2\nepoch 2/2"));
  std::ostringstream out;
  const Net net;
  Descent gathered(net, {.epochs = 2, .accumulate = 2, .terminal = {.out = &out, .redraws = true, .columns = 200}});
  gathered.trainer.fit(gathered.batches, loss_of(net));
  holds(out.str(), {"  6/6  epoch 2/2  "});
}

TEST_CASE("of an epoch of one batch lines tell the epoch, and a checkpoint has it") {
  const TemporaryFolder folder;
  const auto lines = [&](std::int64_t epochs) {
    std::ostringstream out;
    const Points points;
    const Net net;
    optim::SGD sgd{net.parameters(), {.lr = 0.5}};
    DataLoader batches{points.data(), {.batch_size = 40}};
    Trainer trainer{net, sgd, {.epochs = epochs, .folder = folder / "run", .resume = true, .terminal = {.out = &out}}};
    trainer.run(batches, [](const auto&) { return 0.5; });
    CHECK(batches.epoch() == epochs);
    return out.str();
  };
  CHECK(lines(1).find(": starting anew\nepoch 1/1  loss 0.5000  ") != std::string::npos);
  const std::string resumed = lines(3);
  CHECK(resumed.starts_with("going on after step 1, in epoch 2\nepoch "));
  CHECK(resumed.find("\nepoch 3/3  loss 0.5000  ") != std::string::npos);
}

TEST_CASE("a line comes once a second, and with it the checkpoint") {
  const TemporaryFolder folder;
  std::ostringstream out;
  const Net net;
  TrainerOptions options{.epochs = 4, .folder = folder / "run", .terminal = {.out = &out}};
  int epoch = 0;
  options.validate = [&] {
    if (++epoch == 2) std::this_thread::sleep_for(std::chrono::milliseconds(1100));
    return 0.25;
  };
  std::vector<std::int64_t> kept;  // steps of the checkpoint, at the first step of the third epoch
  Descent one(net, options);
  const auto begin = std::chrono::steady_clock::now();
  one.trainer.run(one.batches, [&](const auto&) {
    const std::string path = (folder / "run" / "checkpoint.safetensors").string();
    if (one.trainer.steps() == 10) {
      kept.push_back(nlohmann::json::parse(load_safetensors(path).text("trainer")).at("step"));
    }
    return 0.5;
  });
  CHECK(kept == std::vector<std::int64_t>{10});
  if (std::chrono::steady_clock::now() - begin > std::chrono::milliseconds(1400)) return;  // of a machine that stalls
  CHECK(out.str() ==
        "epoch 1/4  loss 0.5000  validation 0.2500  0:00\nepoch 2/4  loss 0.5000  validation 0.2500  0:01\n"
        "epoch 4/4  loss 0.5000  validation 0.2500  0:00\n");
}

TEST_CASE("a checkpoint that cannot be written is an error before the training, and a report begins a line of its own") {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "run/checkpoint.safetensors");
  Training one({.epochs = 1, .folder = folder / "run"});
  int called = 0;
  CHECK_THROWS_AS(one.trainer.run(one.batches, [&](const auto&) { return ++called; }), IoError);
  CHECK(called == 0);
  std::ostringstream out;
  TrainerOptions options{.epochs = 1, .terminal = {.out = &out, .redraws = true, .columns = 100}};
  options.on_report = [&](const Report&) { out << "reported\n"; };
  const Net net;
  Descent drawn(net, options);
  drawn.trainer.run(drawn.batches, [](const auto&) { return 0.5; });
  CHECK(out.str().ends_with("\x1b[K\nreported\n"));
}

TEST_CASE("curves have dots where there are few, and a logarithmic axis where they fall by an order of magnitude") {
  const auto curves = [](std::int64_t epochs, double factor, std::int64_t every) {
    const TemporaryFolder folder;
    const TrainerOptions options{.epochs = epochs, .validate_every = every, .folder = folder / "run", .terminal = {}};
    const Net net;
    Descent one(net, options);
    one.trainer.run(one.batches,
                    [&](const auto&) { return 2 + factor * static_cast<double>(one.trainer.steps() / 5); });
    return read_text(folder / "run" / "curves.svg");
  };
  const auto dots = [](const std::string& svg) { return testing::count_of("r=\"3.5\"", svg); };
  CHECK(dots(curves(29, 1, 0)) == 29);
  CHECK(dots(curves(30, 1, 0)) == 0);
  const std::string linear = curves(3, 9, 0), log = curves(3, 9.5, 0);  // 2, 11, 20; 2, 11.5, 21
  testing::check_labels(linear, 1, {"training loss", "epoch", "0", "20"});
  testing::check_labels(log, 1, {"50"});
  testing::check_labels(log, 0, {"0"});
  testing::check_labels(curves(3, 9, 1), 1, {"step"});
}

TEST_CASE("a trainer refuses what it cannot do") {
  const Net net;
  const auto made = [&](const TrainerOptions& options) { Descent(net, options); };
  CHECK_REFUSED(ValueError, made({.epochs = -1}), "trainer", "epochs", "-1");
  CHECK_REFUSED(ValueError, made({.steps = -1}), "trainer", "steps", "-1");
  CHECK_REFUSED(ValueError, made({.max_norm = -1}), "trainer", "max_norm", "-1");
  CHECK_REFUSED(ValueError, made({.patience = -1}), "trainer", "patience", "-1");
  CHECK_REFUSED(ValueError, made({.accumulate = 0}), "trainer", "accumulate 0");
  CHECK_REFUSED(ValueError, made({.ema = 1}), "trainer", "ema 1", "[0, 1)");
  CHECK_REFUSED(ValueError, made({.validate_every = -1}), "trainer", "validate_every -1");
  CHECK_REFUSED(ValueError, made({.resume = true}), "trainer", "nothing to resume from without a folder");

  const Real nan = xgrad::testing::not_a_number;
  const auto undefined = [&](const Tensor& x, const Index&) { return sum(net(x)) * nan; };
  Descent one(net, {.terminal = {}});
  CHECK_REFUSED(NumericError, one.trainer.fit(one.batches, undefined), "trainer", "the loss of step 1 is nan");
  Descent wrong(net, {.validate = [&] { return nan; }, .terminal = {}});
  CHECK_REFUSED(NumericError, wrong.trainer.fit(wrong.batches, loss_of(net)), "trainer", "the score validation is nan");
  int asked = 0;
  Descent other(net, {.validate = [&] { return Scores{{asked++ == 0 ? "a" : "b", 1}}; }, .terminal = {}});
  CHECK_REFUSED(ValueError, other.trainer.fit(other.batches, loss_of(net)), "trainer",
                "validate must measure the same scores each time", "lr, a]", "lr, b]");
}

TEST_CASE("a checkpoint that does not fit is refused, and nothing has changed") {
  const TemporaryFolder folder;
  const auto path = folder / "run" / "checkpoint.safetensors";
  { Training({.epochs = 1, .folder = folder / "run"}).fit(); }
  const StateFile good = load_safetensors(path.string());
  CHECK(good.part("average").arrays.empty());  // of what is not used there is nothing
  CHECK(good.part("schedule").arrays.empty());
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
  // The numbers are JSON: step 5, one epoch, one report with two scores.
  const auto numbers = [](const auto& change) {
    return [change](StateFile& file) {
      nlohmann::json all = nlohmann::json::parse(file.text("trainer"));
      change(all);
      file.metadata["trainer"] = all.dump();
    };
  };
  refused(numbers([](auto& all) { all["step"] = "five"; }));
  refused(numbers([](auto& all) { all["step"] = -5; }));
  refused(numbers([](auto& all) { all.erase("sum"); }));
  refused(numbers([](auto& all) { all["summed"] = -1; }));
  refused(numbers([](auto& all) { all["epochs"] = -1; }));
  refused(numbers([](auto& all) { all["reports"][0]["best"] = false; }));
  refused(numbers([](auto& all) { all["reports"][0]["scores"]["values"][1] = 3; }));
  refused(numbers([](auto& all) { all["reports"] = {1, 2}; }));
  refused([](StateFile& file) { file.metadata["trainer"] = "{\"step\": 5,"; });
  refused([](StateFile& file) { file.metadata.erase("trainer"); });
  refused([](StateFile& file) { file.arrays.erase("model.in.weight"); });
  refused([](StateFile& file) { file.arrays["model.in.weight"] = Array(Shape{3}, 0); });
  refused([](StateFile& file) { file.arrays["batches.position"] = Index({2}, {0, 99}); });
  refused([](StateFile& file) { file.metadata["batches.settings"] = "another"; });
  refused([](StateFile& file) { file.arrays.erase("optimizer.in.weight.step"); });
  refused([](StateFile& file) { file.arrays.erase("best.in.weight"); });
  refused([](StateFile& file) { file.arrays["best.in.weight"] = Array(Shape{3}, 0); });
  save_safetensors(path.string(), good);
  Training again({.epochs = 2, .folder = folder / "run", .resume = true});
  again.fit();
  CHECK(again.reports() == Reports{{1, 5}, {2, 10}});
  const auto says = [&](const auto& change, const char* message) {
    StateFile wrong = good;
    numbers(change)(wrong);
    save_safetensors(path.string(), wrong);
    Training again({.epochs = 2, .folder = folder / "run", .resume = true});
    CHECK_REFUSED(FormatError, again.fit(), "trainer", path.string(), message);
  };
  says([](auto& all) { all["step"] = "five"; }, "has no numbers of a trainer: ");
  says([](auto& all) { all["summed"] = -1; }, "counts steps and epochs as no trainer does");
  says([](auto& all) { all["reports"][0]["best"] = false; }, "has no best report");
}

TEST_CASE("checkpoints of earlier versions are read, and the training goes on") {
  const TemporaryFolder folder;
  const auto path = folder / "old" / "checkpoint.safetensors";
  const TrainerOptions options{
      .epochs = 3, .schedule = optim::schedule::cosine({.steps = 15}), .max_norm = 0.5, .attributes = {{"heads", 2}}};
  TrainerOptions with = options;
  with.folder = folder / "old";
  with.resume = true;
  std::filesystem::create_directories(with.folder);
  const auto check_refused = [&](StateFile bad, const char* key, const char* value) {
    bad.metadata[key] = value;
    save_safetensors(path.string(), bad);
    Training refused(with);
    CHECK_THROWS_AS(refused.fit(), FormatError);
    CHECK(refused.trainer.steps() == 0);
  };
  // Written after step 7 of this training: one report, and two steps of the second epoch. The first one has a text for each
  // kind of numbers.
  const auto written = [](const char* version) {
    return load_safetensors(str(XGRAD_TESTS_DIR "/fixtures/stored/checkpoint_", version, ".safetensors"));
  };
  for (const auto& [key, value] : {std::pair{"step", "five"},
                                   {"step", "5,6"},
                                   {"scores", "3"},
                                   {"epochs", "1,2"},
                                   {"history", "1,2,x"},
                                   {"settings.heads", "4"}}) {
    check_refused(written("0.2"), key, value);
  }
  for (const char* version : {"0.2", "0.3"}) {
    CAPTURE(version);
    save_safetensors(path.string(), written(version));
    Net::seeded();
    Training resumed(with), whole(options);
    resumed.fit();
    Net::seeded();
    whole.fit();
    CHECK(resumed.reports() == Reports{{1, 5}, {2, 10}, {3, 15}});
    const Report& first = resumed.trainer.history()[0];
    // Another processor, such as that which wrote the second one, has other last bits.
    const double near = std::string(version) == "0.2" ? 0 : 1e-6;
    CHECK(std::abs(first.loss - 0.7438218355178833) <= near);
    CHECK(std::abs(first.lr - 0.04172826515897146) <= near);
    CHECK(first.scores.values.at(0).first == "loss");
    CHECK(std::abs(first.scores.values.at(0).second - 0.5593537092208862) <= near);
    CHECK(first.scores.values.at(1).second == 2);
    CHECK(first.best);
    for (const auto& [name, array] : whole.net.state_dict()) {
      xgrad::testing::check_close(std::get<Array>(resumed.net.state_dict().at(name)), std::get<Array>(array), 1e-4);
    }
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(resumed.trainer.history()[i].loss == doctest::Approx(whole.trainer.history()[i].loss).epsilon(1e-4));
    }
  }
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
  Descent one(net, {.epochs = 1, .max_norm = 0.5, .terminal = {}});
  optim::freeze(net.parameters(), "a.*");
  const NamedArrays before = net.state_dict();
  one.trainer.fit(one.batches, loss_of(net));
  const NamedArrays after = net.state_dict();
  const auto moved = [&](const char* name) {
    return !equal(std::get<Array>(before.at(name)), std::get<Array>(after.at(name)));
  };
  CHECK(!moved("a.weight"));
  CHECK(moved("b.weight"));
  CHECK(!moved("unused.weight"));
}

TEST_CASE("trials run each variant with each seed, which the generator has, and give means, lists and curves") {
  struct Result {
    double value;
    std::vector<double> losses;
    double half() const { return value / 2; }
  };
  std::vector<std::pair<std::size_t, std::uint64_t>> runs;
  const testing::Redirected progress(std::cerr);
  const auto all = trials({"a", "b"}, {.first = 5, .count = 3}, [&](std::size_t variant, Seed seed) {
    CHECK(random_state() == RandomState{.seed = seed, .draws = 0});
    (void)rand({2});
    runs.emplace_back(variant, seed);
    const auto value = static_cast<double>(10 * variant + seed);
    return Result{value, {value, 2 * value}};
  });
  for (const char* part : {"1/6  last a  ", "6/6  last b  "}) CHECK(progress.text.str().find(part) != std::string::npos);
  CHECK(runs == decltype(runs){{0, 5}, {0, 6}, {0, 7}, {1, 5}, {1, 6}, {1, 7}});
  REQUIRE(all.size() == 2);
  CHECK(all[1].name == "b");
  CHECK(all[1].mean(&Result::value) == 16);
  CHECK(all[1].mean(&Result::half) == 8);
  CHECK(all[1].mean([](const Result& result) { return result.losses[1]; }) == 32);
  CHECK(all[0].each(&Result::value) == "5.000 6.000 7.000");
  const Series curve = all[0].curve(&Result::losses);
  CHECK(curve.name == "a");
  CHECK(curve.y == std::vector<double>{6, 12});
}

}  // namespace xgrad::kit
