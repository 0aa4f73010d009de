// Behaviour common to all optimizers: groups, skipped parameters, errors, memory and state.
#include "../support.h"
#include "support/files.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>

#include <xgrad/xgrad.h>
#include <xgrad/core/runtime/memory.h>

namespace xgrad::testing {
namespace {

TEST_CASE("Parameters without a gradient are skipped and counted") {
  const Tensor a = variable(1, "a"), b = variable(2, "b");
  optim::SGD sgd{{a, b}, {.lr = 1}};
  (a * a).backward();
  const optim::StepReport report = sgd.step();
  CHECK(report.updated == 1);
  CHECK(report.skipped == 1);
  CHECK(a.item() == -1);
  CHECK(b.item() == 2);
  sgd.zero_grad();
  CHECK(!a.has_grad());
  CHECK_REFUSED(GraphError, sgd.step(), "sgd", "no parameter has a gradient: call loss.backward() before step()");
  CHECK(sgd.step({Tensor(), Tensor()}).skipped == 2);
  CHECK(sgd.step({Tensor(), Tensor(1)}).updated == 1);
  CHECK(b.item() == 1);
}

TEST_CASE("A step that an observer throws in is done whole") {
  const auto two_steps = [](bool watched) {
    const Tensor a = variable(1, "a"), b = variable(2, "b");
    optim::Adam adam{{a, b}, {.lr = 0.1}};
    const Tensors gradients{Tensor(3), Tensor(-4)};
    if (watched) {
      const Refusing observer;
      CHECK(error_of<std::runtime_error>([&] { adam.step(gradients); }) == "no");
    } else {
      adam.step(gradients);
    }
    adam.step(gradients);
    return std::pair(a.item(), b.item());
  };
  CHECK(two_steps(true) == two_steps(false));
}

TEST_CASE("A parameter given twice is refused by name") {
  const Tensor w = variable(1, "w");
  const std::vector<optim::Adam::Group> groups{{.parameters = {w}}, {.parameters = {w}}};
  CHECK_REFUSED(ValueError, optim::SGD({w, w}), "sgd", "duplicate parameter 'w'");
  CHECK_REFUSED(ValueError, optim::Adam{groups}, "adam", "duplicate parameter 'w'");
  CHECK_REFUSED(GraphError, optim::SGD({w * w}), "sgd", "only leaves can be parameters", "mul");
}

TEST_CASE("A gradient of another shape or number changes nothing") {
  const Tensor a = variable(1, "a"), b = variable(Array({2, 3}, Real(1)), "b");
  optim::Adam adam{{a, b}};
  CHECK_REFUSED(ShapeError, adam.step({Tensor(1), Array({3, 2}, Real(1))}), "adam", "gradient of shape [3, 2]",
                "'b' of shape [2, 3]");
  CHECK_REFUSED(ValueError, adam.step({Tensor(1)}), "adam", "1 gradients for 2 parameters");
  CHECK(a.item() == 1);
  adam.step({Tensor(1), Array({2, 3}, Real(1))});
  b.mutable_value() = Array({2}, Real(0));
  CHECK_REFUSED(ShapeError, adam.step({Tensor(1), Array({2}, Real(1))}), "adam",
                "parameter 'b' had shape [2, 3] and now has [2]");
}

TEST_CASE("Groups have options and learning rates of their own") {
  const Tensor a = variable(1), b = variable(1);
  optim::SGD sgd{std::vector<optim::SGD::Group>{{{a}, {.lr = 0.5}}, {{b}, {.lr = 0.25, .weight_decay = 1}}}};
  sgd.step({Tensor(1), Tensor(1)});
  CHECK(a.item() == 0.5);
  CHECK(b.item() == 0.5);
  CHECK(sgd.groups() == 2);
  CHECK(sgd.lr() == 0.5);
  CHECK(sgd.lr(1) == 0.25);
  sgd.set_lr(0);
  sgd.step({Tensor(1), Tensor(1)});
  CHECK(a.item() == 0.5);
  CHECK(b.item() == 0.5);
  CHECK_REFUSED(ValueError, sgd.lr(2), "lr", "group 2 of 2");
  CHECK_REFUSED(ValueError, sgd.set_lr(-1), "set_lr", "lr -1 is negative");
}

TEST_CASE("The steady state takes no memory") {
  const Tensor x = variable(normal({1000}));
  const Tensors gradients{Tensor(normal({1000}, 2))};
  optim::AdamW adamw{{x}};
  adamw.step(gradients);
  const Real* const place = x.value().data();
  const PoolStats before = pool_stats();
  for (int t = 0; t < 100; ++t) adamw.step(gradients);
  CHECK(pool_stats().bytes_in_use == before.bytes_in_use);
  CHECK(pool_stats().system_requests == before.system_requests);
  CHECK(x.value().data() == place);
}

TEST_CASE("A snapshot of the parameters is not changed by later steps") {
  const Tensor x = variable(Array({2}, {1, 2}));
  const Array before = x.value();
  optim::SGD sgd{{x}, {.lr = 1}};
  sgd.step({Array({2}, {1, 1})});
  CHECK(equal(before, Array({2}, {1, 2})));
  CHECK(equal(x.value(), Array({2}, {0, 1})));
}

TEST_CASE("a state of Adam of an earlier version is read and gives its next steps, and is saved as the same bytes") {
  // Written by tests/fixtures/make_stored_files.py, in which Adam is four lines of Python.
  const std::string path = fixture_path("stored/adam.safetensors");
  const StateFile steps = load_safetensors(fixture_path("stored/adam_steps.safetensors"));
  const Tensor x = variable(steps.get<Array>("x2"), "x");
  optim::Adam adam{{x}, {.lr = 0.5}};
  adam.load_state_dict(load_safetensors(path));
  CHECK(adam.lr() == 0.1);
  const TemporaryFolder folder;
  save_safetensors(folder / "now", adam.state_dict());
  CHECK(read_text(folder / "now") == read_text(path));
  for (const std::int64_t t : {2, 3}) adam.step({steps.get<Array>("gradients")[{t}]});
  check_close(x.value(), steps.get<Array>("x4"));
}

// Ten steps on |x + b - target|^2 with a schedule, and the moving averages of x and b; after `pause` steps everything is
// put aside and taken up by new objects.
template <class Optimizer>
std::vector<Array> trained(const typename Optimizer::Options& options, int pause) {
  const Tensor target(normal({5, 3}, 9));
  Tensor x = variable(normal({5, 3}), "x"), b = variable(normal({1, 3}, 2), "b");
  auto optimizer = std::make_unique<Optimizer>(Tensors{x, b}, options);
  const auto schedule = optim::schedule::warmup(3, optim::schedule::cosine({.steps = 6}));
  auto scheduler = std::make_unique<optim::Scheduler>(*optimizer, schedule);
  const optim::MovingAverageOptions slow{.decay = 0.9};
  auto average = std::make_unique<optim::ExponentialMovingAverage>(Tensors{x, b}, slow);
  for (int t = 0; t < 10; ++t) {
    if (t == pause) {
      const TemporaryFolder folder;
      StateFile state{.arrays = {{"x", x.value()}, {"b", b.value()}}};
      state.add("optimizer", optimizer->state_dict());
      state.add("scheduler", scheduler->state_dict());
      state.add("average", average->state_dict());
      save_safetensors(folder / "checkpoint", state);
      const StateFile kept = load_safetensors(folder / "checkpoint");
      x = variable(kept.get<Array>("x"), "x");
      b = variable(kept.get<Array>("b"), "b");
      optimizer = std::make_unique<Optimizer>(Tensors{x, b}, options);
      scheduler = std::make_unique<optim::Scheduler>(*optimizer, schedule);
      average = std::make_unique<optim::ExponentialMovingAverage>(Tensors{x, b}, slow);
      optimizer->load_state_dict(kept.part("optimizer"));
      scheduler->load_state_dict(kept.part("scheduler"));
      average->load_state_dict(kept.part("average"));
    }
    const Tensor miss = x + b - target;
    CHECK(std::isfinite(sum_to(miss, {}).item()));
    optimizer->step(grad(sum_to(miss * miss, {}), {x, b}));
    scheduler->step();
    average->update();
  }
  CHECK(average->updates() == 10);
  return {x.value(), average->averages()[0], average->averages()[1]};
}

template <class Optimizer>
bool resumes(const typename Optimizer::Options& options, int pause = 5) {
  return std::ranges::equal(trained<Optimizer>(options, pause), trained<Optimizer>(options, -1),
                            [](const Array& a, const Array& b) { return equal(a, b); });
}

TEST_CASE("Ten steps are five steps, saved and resumed, and five more, bit for bit") {
  CHECK(resumes<optim::Adam>({}));
  CHECK(resumes<optim::AdamW>({}, 2));
  CHECK(resumes<optim::SGD>({.momentum = 0.5, .nesterov = true}));
  CHECK(resumes<optim::SGD>({}));
  CHECK(!equal(trained<optim::Adam>({}, 5)[0], trained<optim::AdamW>({}, 5)[0]));
  CHECK(resumes<optim::Adam>({.amsgrad = true, .maximize = true}));
  CHECK(resumes<optim::RMSprop>({}));
  CHECK(resumes<optim::RMSprop>({.momentum = 0.5, .centered = true}));
  CHECK(resumes<optim::Adagrad>({.lr_decay = 0.1}));
  CHECK(resumes<optim::Adadelta>({}));
  CHECK(resumes<optim::Lion>({}));
  CHECK(resumes<optim::Muon>({}));
}

TEST_CASE("A state that does not fit is refused with every name, and changes nothing") {
  const Tensor w = variable(Array({2}, {1, 2}), "w"), b = variable(1, "b");
  optim::Adam adam{{w, b}};
  adam.step({Array({2}, {1, 1}), Tensor(1)});
  StateFile state = adam.state_dict();
  CHECK_REFUSED(FormatError, optim::AdamW({w, b}).load_state_dict(state), "load_state_dict",
                "the state of \"adam\" does not fit \"adamw\"");
  state.arrays.erase("b.exp_avg");
  state.arrays["w.exp_avg_sq"] = Array({3}, Real(0));
  state.arrays["w.step"] = Array({}, Real(0));
  state.arrays["v.step"] = Index({}, 1);
  CHECK(error_of<FormatError>([&] { adam.load_state_dict(state); }) ==
        "load_state_dict: the state does not fit\n  missing:\n    \"b.exp_avg\"\n  unexpected:\n    \"v.step\"\n"
        "  mismatched:\n    \"w.step\" holds another kind of numbers\n    \"w.exp_avg_sq\" [3] for [2]");
  CHECK(std::get<Array>(adam.state_dict().arrays.at("w.exp_avg_sq")).shape() == Shape{2});
}

TEST_CASE("A sum of squares in a state is never negative, other moments may be, whichever the optimizer") {
  const Tensor w = variable(Array({2}, {1, 2}), "w");
  const auto negative = [&](optim::Optimizer&& optimizer) {
    optimizer.step({Array({2}, {1, 1})});
    const StateFile good = optimizer.state_dict();
    std::string refused;
    for (const auto& [name, value] : good.arrays) {
      if (!std::holds_alternative<Array>(value)) continue;
      StateFile state = good;
      state.arrays[name] = Array({2}, {0, -2});
      try {
        optimizer.load_state_dict(state);
      } catch (const FormatError& error) {
        CHECK(std::string(error.what()).ends_with("has -2 as element 1"));
        refused += name + " ";
      }
    }
    return refused;
  };
  CHECK(negative(optim::SGD({w}, {.momentum = 0.5})) == "");
  CHECK(negative(optim::Adam({w}, {.amsgrad = true})) == "w.exp_avg_sq w.max_exp_avg_sq ");
  CHECK(negative(optim::AdamW({w}, {})) == "w.exp_avg_sq ");
  CHECK(negative(optim::RMSprop({w}, {.momentum = 0.5, .centered = true})) == "w.square_avg ");
  CHECK(negative(optim::Adagrad({w}, {})) == "w.sum ");
  CHECK(negative(optim::Adadelta({w}, {})) == "w.acc_delta w.square_avg ");
  CHECK(negative(optim::Lion({w}, {})) == "");
}

TEST_CASE("A state with numbers that no optimizer leaves behind is refused with every name, and changes nothing") {
  const std::int64_t most = std::int64_t{1} << 53;
  const Tensor w = variable(Array({2}, {1, 2}), "w"), b = variable(1, "b");
  optim::Adam adam{{w, b}};
  adam.step({Array({2}, {1, 1}), Tensor(1)});
  const StateFile good = adam.state_dict();
  const auto refusal = [&](const char* name, const AnyArray& value) {
    StateFile state = good;
    state.arrays[name] = value;
    std::string message = error_of<FormatError>([&] { adam.load_state_dict(state); });
    const StateFile after = adam.state_dict();
    for (const auto& [key, kept] : good.arrays) {
      CHECK(std::visit([&, &key = key]<class A>(const A& a) { return equal(a, after.get<A>(key)); }, kept));
    }
    const std::string start = "load_state_dict: the state does not fit\n  mismatched:\n    ";
    REQUIRE(message.starts_with(start));
    return message.substr(start.size());
  };
  for (const std::int64_t steps : {std::int64_t{-1}, std::numeric_limits<std::int64_t>::min(), most + 1,
                                   std::numeric_limits<std::int64_t>::max()}) {
    CHECK(refusal("w.step", Index({}, steps)) == str("\"w.step\" is ", steps, ", which is no number of steps"));
  }
  CHECK(refusal("w.exp_avg_sq", Array({2}, {1, -2})) == "\"w.exp_avg_sq\" has -2 as element 1");
  CHECK(refusal("w.exp_avg_sq", Array({2}, {infinity, 0})) == "\"w.exp_avg_sq\" has inf as element 0");
  CHECK(refusal("w.exp_avg", Array({2}, {0, std::nan("")})) == "\"w.exp_avg\" has nan as element 1");
  CHECK(refusal("b.exp_avg", Array({}, {-infinity})) == "\"b.exp_avg\" has -inf as element 0");

  StateFile state = good;
  state.arrays["w.step"] = Index({}, most);
  state.arrays["w.exp_avg"] = Array({2}, {-1, 1});
  adam.load_state_dict(state);
  adam.step({Array({2}, {1, 1}), Tensor(1)});
  CHECK(std::isfinite(w.value().at({0})));

  optim::SGD sgd{{b}, {.momentum = 0.5}};
  sgd.step({Tensor(1)});
  state = sgd.state_dict();
  state.arrays["b.momentum_buffer"] = Array({}, {std::nan("")});
  CHECK_THROWS_AS(sgd.load_state_dict(state), FormatError);
  state.arrays["b.momentum_buffer"] = Array({}, Real(-3));
  CHECK_NOTHROW(sgd.load_state_dict(state));
  for (const char* rate : {"-1", "nan", "inf", "1,5", "0x1p-3", ""}) {
    state.metadata["lr.0"] = rate;
    CHECK_THROWS_AS(sgd.load_state_dict(state), FormatError);
  }
}

TEST_CASE("A state says what an optimizer's options make it remember, and fits those alone") {
  const Tensor w = variable(Array({2}, {1, 2}), "w");
  const Tensors g{Array({2}, {1, 1})};
  optim::RMSprop plain{{w}}, all{{w}, {.momentum = 0.5, .centered = true}};
  plain.step(g);
  all.step(g);
  const auto without_options = [](const optim::Optimizer& optimizer) {
    StateFile state = optimizer.state_dict();
    state.metadata = {{"optimizer", state.text("optimizer")}, {"lr.0", state.text("lr.0")}};
    return state;
  };
  CHECK_REFUSED(FormatError, plain.load_state_dict(without_options(all)), "load_state_dict", "unexpected",
                "\"w.grad_avg\"", "\"w.momentum_buffer\"");
  CHECK_REFUSED(FormatError, all.load_state_dict(without_options(plain)), "load_state_dict", "missing",
                "\"w.grad_avg\"", "\"w.momentum_buffer\"");
}

TEST_CASE("A state of more groups, or of fewer, is refused") {
  const Tensor a = variable(1, "a"), b = variable(1, "b");
  optim::SGD one{{a, b}}, two{std::vector<optim::SGD::Group>{{{a}}, {{b}}}};
  CHECK_REFUSED(FormatError, one.load_state_dict(two.state_dict()), "load_state_dict", "more than 1 groups");
  CHECK_REFUSED(FormatError, two.load_state_dict(one.state_dict()), "state file", "metadata \"lr.1\" is missing");
}

TEST_CASE("What does not fit is said with the file that it came from") {
  const TemporaryFolder folder;
  const std::string path = folder / "checkpoint";
  const Tensor w = variable(1, "w");
  StateFile checkpoint;
  checkpoint.add("optimizer", optim::SGD({w}).state_dict());
  save_safetensors(path, checkpoint);
  optim::SGD sgd{{w, variable(1, "v")}};
  CHECK(error_of<FormatError>([&] { sgd.load_state_dict(load_safetensors(path).part("optimizer")); }) ==
        str("load_state_dict: ", path, ": the state does not fit\n  missing:\n    \"v.step\""));
  CHECK(error_of<FormatError>([&] { load_safetensors(path).text("epoch"); }) ==
        str("state file: ", path, ": metadata \"epoch\" is missing"));
}

TEST_CASE("Each parameter has a name of its own in a state, whatever the parameters are called") {
  const StateFile state = optim::SGD({variable(1), variable(1, "w"), variable(1, "w")}).state_dict();
  for (const char* name : {"0.step", "w.step", "w#2.step"}) CHECK(state.arrays.contains(name));
  const Tensors all{variable(1, "w"), variable(1, "w#2"), variable(1, "w"), variable(1, "w#3"), variable(1, "w")};
  CHECK(optim::SGD{all}.state_dict().arrays.size() == 5);
  CHECK(optim::ExponentialMovingAverage{all}.state_dict().arrays.size() == 6);  // and the number of updates
  const optim::SGD unnamed{{variable(1, "1"), variable(1), variable(1, "0"), variable(1)}};
  CHECK(unnamed.state_dict().arrays.size() == 4);
}

TEST_CASE("An optimizer over no parameters is refused") {
  using Groups = std::vector<optim::SGD::Group>;
  CHECK_REFUSED(ValueError, optim::SGD{Tensors{}}, "sgd", "there are no parameters");
  CHECK_REFUSED(ValueError, optim::SGD{Groups{}}, "sgd", "there are no parameters");
  CHECK_REFUSED(ValueError, optim::SGD{Groups(2)}, "sgd", "there are no parameters");
  CHECK_REFUSED(ValueError, optim::LBFGS{Tensors{}}, "lbfgs", "there are no parameters");
  CHECK(optim::SGD{Groups{{}, {{variable(1)}, {}}}}.groups() == 2);
}

TEST_CASE("A parameter that is frozen after backward stays where it is") {
  const Tensor a = variable(1, "a"), b = variable(1, "b");
  optim::Adam adam{{a, b}, {.lr = 0.1}};
  sum(a * b).backward();
  optim::freeze({a, b}, "a");
  const optim::StepReport report = adam.step();
  CHECK(report.updated == 1);
  CHECK(report.skipped == 1);
  CHECK(a.item() == 1);
  CHECK(b.item() == doctest::Approx(0.9));
}

// What is said when a state that was saved with some options is loaded with others; without its options it loads.
template <class O>
std::string taken_with(const typename O::Options& saved, const typename O::Options& resumed) {
  const Tensor x = variable(Array({2}, {1, 2}), "x");
  O before{{x}, saved}, after{{x}, resumed};
  before.step({Array({2}, {1, -1})});
  const std::string sentence = error_of<FormatError>([&] { after.load_state_dict(before.state_dict()); });
  StateFile without = before.state_dict();  // as states of old have none of it
  std::erase_if(without.metadata,
                [](const auto& entry) { return entry.first != "optimizer" && !entry.first.starts_with("lr."); });
  after.load_state_dict(without);
  return sentence;
}

TEST_CASE("A state that was taken with other settings is refused by the name of the setting") {
  using namespace optim;
  const std::string taken = "load_state_dict: taken with ";
  CHECK(taken_with<SGD>({.momentum = 0.9}, {.momentum = 0.8}) == taken + "momentum 0.9 in group 0, not 0.8");
  CHECK(taken_with<SGD>({.momentum = 0.9}, {.momentum = 0.9, .nesterov = true}) ==
        taken + "nesterov 0 in group 0, not 1");
  CHECK(taken_with<Adam>({.betas = {0.9, 0.99}}, {}) == taken + "betas[1] 0.99 in group 0, not 0.999");
  CHECK(taken_with<AdamW>({}, {.weight_decay = 0.1}) == taken + "weight_decay 0.01 in group 0, not 0.1");
  CHECK(taken_with<RMSprop>({}, {.alpha = 0.5}) == taken + "alpha 0.99 in group 0, not 0.5");
  CHECK(taken_with<Adagrad>({}, {.lr_decay = 0.5}) == taken + "lr_decay 0 in group 0, not 0.5");
  CHECK(taken_with<Adadelta>({}, {.rho = 0.5}) == taken + "rho 0.9 in group 0, not 0.5");
  CHECK(taken_with<Lion>({}, {.betas = {0.8, 0.99}}) == taken + "betas[0] 0.9 in group 0, not 0.8");
  const Tensor x = variable(Array({2}, {1, 2}), "x");
  ExponentialMovingAverage average{{x}, {.decay = 0.5}}, slower{{x}, {.decay = 0.9}};
  CHECK_REFUSED(FormatError, slower.load_state_dict(average.state_dict()), "load_state_dict", "decay 0.5", "not 0.9");
  StateFile without = average.state_dict();
  without.metadata.clear();
  slower.load_state_dict(without);
  LBFGS lbfgs{{x}}, other{{x}, {.line_search_fn = LineSearch::strong_wolfe}};
  CHECK_REFUSED(FormatError, other.load_state_dict(lbfgs.state_dict()), "load_state_dict", "line_search_fn 0", "not 1");
}

}  // namespace
}  // namespace xgrad::testing
