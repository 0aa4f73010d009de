// Optimizers, schedules and helpers against what PyTorch's did over whole runs.
#include <xgrad/xgrad.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <regex>
#include <type_traits>

#include "optim/support.h"
#include "support/check.h"
#include "support/files.h"
#include "support/fixtures.h"
#include "support/number_type.h"

namespace xgrad::testing {
namespace {

/// The options that the case stores. Those that it does not store are PyTorch's defaults, which so are seen to be ours.
template <class Options>
Options options_of(const Case& c) {
  Options o;
  const auto take = [&]<class T>(const char* name, T& option) {
    if (!c.has(name)) return;
    if constexpr (std::is_same_v<T, bool>) {
      option = c.flag(name);
    } else if constexpr (std::is_arithmetic_v<T>) {
      option = static_cast<T>(c.number(name));
    } else {
      std::ranges::copy(c.reals(name), option.begin());
    }
  };
  take("lr", o.lr);
  take("weight_decay", o.weight_decay);
  take("maximize", o.maximize);
  if constexpr (requires { o.eps; }) take("eps", o.eps);
  if constexpr (requires { o.betas; }) take("betas", o.betas);
  if constexpr (requires { o.amsgrad; }) take("amsgrad", o.amsgrad);
  if constexpr (requires { o.momentum; }) take("momentum", o.momentum);
  if constexpr (requires { o.dampening; }) take("dampening", o.dampening);
  if constexpr (requires { o.nesterov; }) take("nesterov", o.nesterov);
  if constexpr (requires { o.alpha; }) take("alpha", o.alpha);
  if constexpr (requires { o.centered; }) take("centered", o.centered);
  if constexpr (requires { o.rho; }) take("rho", o.rho);
  if constexpr (requires { o.lr_decay; }) take("lr_decay", o.lr_decay);
  if constexpr (requires { o.initial_accumulator_value; }) {
    take("initial_accumulator_value", o.initial_accumulator_value);
  }
  if constexpr (requires { o.ns_steps; }) take("ns_steps", o.ns_steps);
  if constexpr (requires { o.ns_coefficients; }) take("ns_coefficients", o.ns_coefficients);
  return o;
}

template <class Optimizer>
Results run(const Case& c) {
  return steps<Optimizer>(c, options_of<typename Optimizer::Options>(c));
}

Results clip_norm(const Case& c) {
  optim::ClipOptions options;
  options.norm_type = c.number("norm_type", options.norm_type);
  auto [clipped, norm] =
      optim::clip_grad_norm({c.x(0).detach(), c.x(1).detach()}, c.xs(), c.number("limit"), options);
  clipped.push_back(Tensor(norm));
  return Results(clipped);
}

optim::Schedule cosine(const Case& c) {
  return optim::schedule::cosine({.min_lr = c.number("min_lr"), .steps = c.integer("steps")});
}

TEST_CASE("optimizers, clipping and schedules do what PyTorch's do") {
  namespace schedule = optim::schedule;
  check_fixtures(
      "optim",
      {{"sgd", run<optim::SGD>},
       {"adam", run<optim::Adam>},
       {"adamw", run<optim::AdamW>},
       {"clip_norm", clip_norm},
       {"cosine", [](const Case& c) { return rates(c, cosine(c)); }},
       {"warmup_constant", [](const Case& c) { return rates(c, schedule::warmup(c.integer("warmup"))); }},
       {"warmup_cosine", [](const Case& c) { return rates(c, schedule::warmup(c.integer("warmup"), cosine(c))); }},
       {"noam", [](const Case& c) {
          return rates(c, schedule::noam({.width = c.integer("width"), .warmup = c.integer("warmup")}));
        }}});
}

TEST_CASE("every optimizer has stored steps, a test of its state, and a row in docs/guide/optimizers.md") {
  const std::string folder = XGRAD_TESTS_DIR "/optim/optimizers/",
                    steps = read_text(folder + "optimizer_fixtures_test.cpp"),
                    states = read_text(folder + "optimizer_test.cpp"),
                    page = read_text(XGRAD_TESTS_DIR "/../docs/guide/optimizers.md");
  const auto has = [](const std::string& text, const std::string& words) { return text.find(words) != text.npos; };
  const std::regex derived(R"(class (\w+) : public OptimizerOf<)");
  int count = 0;
  for (const auto& header : std::filesystem::directory_iterator(XGRAD_TESTS_DIR "/../optim/optimizers")) {
    if (header.path().extension() != ".h") continue;
    const std::string text = read_text(header.path());
    for (std::sregex_iterator at(text.begin(), text.end(), derived), end; at != end; ++at, ++count) {
      const std::string name = (*at)[1];
      const bool stored = has(steps, str("run<optim::", name, '>')) || has(steps, str("steps<optim::", name, '>'));
      CHECK_MESSAGE(stored, name, " has no case here: add it to tests/fixtures/make_optim_fixtures.py");
      CHECK_MESSAGE(has(states, str("resumes<optim::", name, '>')), "no step of ", name, " is resumed in optimizer_test.cpp");
      CHECK_MESSAGE(has(page, name + '`'), name, " has no row in the page");
    }
  }
  CHECK(count > 5);
}

TEST_CASE("every optimizer makes PyTorch's steps with every option") {
  check_fixtures("optimizers", {{"sgd", run<optim::SGD>},
                                {"adam", run<optim::Adam>},
                                {"adamw", run<optim::AdamW>},
                                {"rmsprop", run<optim::RMSprop>},
                                {"adagrad", run<optim::Adagrad>},
                                {"adadelta", run<optim::Adadelta>},
                                {"lion", run<optim::Lion>}});
}

TEST_CASE("Muon takes PyTorch's way with matrices") {
  check_fixtures("muon", {{"muon", [](const Case& c) {
                             auto options = options_of<optim::MuonOptions>(c);
                             if (c.has("adjust_lr_fn")) {
                               options.adjust_lr_fn = c.text("adjust_lr_fn") == "match_rms_adamw"
                                                          ? optim::MuonRate::match_rms_adamw
                                                          : optim::MuonRate::spectral_unclamped;
                             }
                             return steps<optim::Muon>(c, options);
                           }}});
}

#ifdef XGRAD_F64  // in float another number of evaluations leads to the same minimum
Results lbfgs(const Case& c, const std::function<Tensor(const Tensor&)>& function) {
  const Tensor x = variable(c.x(0).value()), y = variable(c.x(1).value());
  optim::LbfgsOptions options{.lr = c.number("lr", 1), .max_iter = c.integer("max_iter")};
  if (c.has("max_eval")) options.max_eval = c.integer("max_eval");
  if (c.has("history_size")) options.history_size = c.integer("history_size");
  if (c.has("line_search_fn")) options.line_search_fn = optim::LineSearch::strong_wolfe;
  options.maximize = c.flag("maximize");
  optim::LBFGS optimizer({x, y}, options);
  Tensors xs, ys, losses;
  std::int64_t iterations = 0, evaluations = 0;
  for (int step = 0; step < 10; ++step) {
    const optim::LbfgsReport report = optimizer.step([&] {
      const Tensor loss = function(concat({x, y}));
      return options.maximize ? -loss : loss;
    });
    iterations += report.iterations;
    evaluations += report.evaluations;
    losses.push_back(Tensor(report.loss));
    xs.push_back(Tensor(x.value()));
    ys.push_back(Tensor(y.value()));
  }
  CHECK(iterations == c.integer("iterations"));
  CHECK(evaluations == c.integer("evaluations"));
  return Tensors{stack(xs), stack(ys), stack(losses)};
}

TEST_CASE("L-BFGS takes PyTorch's way through a bent valley and a bowl") {
  const auto rosenbrock = [](const Tensor& all) {
    const Tensor head = all[{slice(0, -1)}], tail = all[{slice(1, none)}];
    return sum(100 * square(tail - square(head)) + square(1 - head));
  };
  const auto logistic = [](const Tensor& all) {
    return sum(log1p(exp(all * Tensor(Array({6}, {1, 2, 3, 4, 5, 6}))))) + 0.05 * sum(all * all);
  };
  check_fixtures("lbfgs",
                 {{"rosenbrock", [&](const Case& c) { return lbfgs(c, rosenbrock); }},
                  {"logistic", [&](const Case& c) { return lbfgs(c, logistic); }}},
                 {.tolerance = 1e-7});
}
#endif

TEST_CASE("schedules have PyTorch's rates over whole runs") {
  check_fixtures(
      "schedules",
      {{"linear",
        [&](const Case& c) {
          optim::schedule::LinearScheduleOptions options;
          if (c.has("total_iters")) {
            options = {c.number("start_factor"), c.number("end_factor"), c.integer("total_iters")};
          }
          return rates(c, optim::schedule::linear(options));
        }},
       {"lambda",
        [&](const Case& c) {
          return rates(c, optim::schedule::factor([](std::int64_t step) { return 1.0 / (1.0 + double(step)); }));
        }},
       {"sequential",
        [&](const Case& c) {
          return rates(c, optim::schedule::sequential({optim::schedule::factor([](std::int64_t) { return 0.1; }),
                                                       optim::schedule::factor([](std::int64_t step) {
                                                         return std::pow(0.9, static_cast<double>(step));
                                                       }),
                                                       optim::schedule::factor([](std::int64_t step) {
                                                         return std::pow(0.5, static_cast<double>(step / 3));
                                                       })},
                                                      {5, 12}));
        }}});
}

TEST_CASE("norms of any order and averages are PyTorch's") {
  check_fixtures("training", {{"clip_norm", clip_norm},
                              {"average",
                               [](const Case& c) {
                                 const Tensors given{c.x(0).detach(), c.x(1).detach()};
                                 const Tensors parameters{variable(given[0][0]), variable(given[1][0])};
                                 optim::ExponentialMovingAverage average{parameters, {.decay = c.number("decay")}};
                                 Tensors after[2];
                                 for (std::int64_t step = 0; step < given[0].dim(0); ++step) {
                                   for (std::size_t i = 0; i < 2; ++i) parameters[i].assign(given[i][step].value());
                                   average.update();
                                   for (std::size_t i = 0; i < 2; ++i)
                                     after[i].push_back(Tensor(average.averages()[i]));
                                 }
                                 return Results(Tensors{stack(after[0]), stack(after[1])});
                               }}});
}

}  // namespace
}  // namespace xgrad::testing
