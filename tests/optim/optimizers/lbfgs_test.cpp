// L-BFGS: how fast it is where that is known, errors, and states. Its way is held against PyTorch's in
// optimizer_fixtures_test.cpp.
#include "../support.h"
#include "support/files.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>

#include <xgrad/xgrad.h>

namespace xgrad::testing {
namespace {

const auto wolfe = optim::LineSearch::strong_wolfe;

struct Quadratic {
  Tensor x = variable(normal({3, 2}), "x"), b = variable(normal({4}, 2), "b"), frozen = variable(7, "frozen");
  Array scale = uniform({3, 2}, Real(0.5), 20, 3);
  Tensors parameters{x, b, frozen};
  Quadratic() { frozen.set_requires_grad(false); }
  Tensor loss() const { return sum(scale * square(x - 1)) + 3 * sum(square(b + 2)) + 0 * frozen; }
};

TEST_CASE("L-BFGS finds the minimum of a quadratic function in a few steps, and frozen parameters stay") {
  const Quadratic q;
  optim::LBFGS lbfgs{q.parameters, {.line_search_fn = wolfe}};
  const auto report = lbfgs.step([&] { return q.loss(); });
  CHECK(report.loss > 1);
  CHECK(report.iterations > 3);
  lbfgs.step([&] { return q.loss(); });
  check_close(q.x.value(), Array({3, 2}, Real(1)), 1e-6);
  check_close(q.b.value(), Array({4}, Real(-2)), 1e-6);
  CHECK(q.frozen.item() == 7);
  CHECK(lbfgs.step([&] { return q.loss(); }).evaluations >= 1);
}

TEST_CASE("The state of L-BFGS counts the evaluations and iterations of all steps") {
  for (const auto search : {optim::LineSearch::none, wolfe}) {
    const Quadratic q;
    optim::LBFGS lbfgs{q.parameters, {.lr = 0.1, .max_iter = 4, .line_search_fn = search}};
    std::int64_t evaluations = 0, iterations = 0, calls = 0;
    for (int step = 0; step < 3; ++step) {
      const auto report = lbfgs.step([&] { return ++calls, q.loss(); });
      evaluations += report.evaluations;
      iterations += report.iterations;
      CHECK(report.iterations > 1);
      const StateFile state = lbfgs.state_dict();
      CHECK(state.get<Index>("func_evals").item() == evaluations);
      CHECK(state.get<Index>("n_iter").item() == iterations);
    }
    CHECK(calls == evaluations);
  }
}

TEST_CASE("A search whose first trial is too near goes on to where the cubic through both points is lowest") {
  const Tensor x = variable(0, "x");
  const double s = 0.01;
  optim::LBFGS lbfgs{{x}, {.lr = 0.17 * s, .max_iter = 1, .max_eval = 10, .line_search_fn = wolfe}};
  CHECK(lbfgs.step([&] { return x * square(x / s) - x; }).evaluations == 3);  // lowest at s / sqrt 3
  CHECK(x.item() == doctest::Approx(s / std::sqrt(3.)).epsilon(1e-9).scale(0));
}

TEST_CASE("A search that may try no further ends at the lowest loss that it has seen") {
  // Of 0 and 1 the cubic through both is lowest at t, where the loss has hardly fallen.
  const double t = 1 - (2.5 + std::sqrt(3.25)) / (2 + 2 * std::sqrt(3.25)), s = t * (1 - t);
  const double more = (t - 2.5 * t * t + t * t * t - 1e-5) / (s * s);
  const Tensor x = variable(0, "x");
  optim::LBFGS lbfgs{{x}, {.max_iter = 1, .max_eval = 2, .line_search_fn = wolfe}};
  lbfgs.step([&] { return -x + 2.5 * x * x - x * x * x + more * square(x * (1 - x)); });
  CHECK(x.item() == doctest::Approx(t));
}

// A function of slope 0 before a place and `more` behind it: nearly a kink.
Tensor bent(const Tensor& x, double at, double more) { return more / 2 * (x - at + sqrt(square(x - at) + 1e-7)); }

// Where a search from 0 evaluates a function of slope -1 there: at 0, 1, ...
std::vector<double> trials(const std::function<Tensor(const Tensor&)>& f, double tolerance_change = 1e-9) {
  const Tensor x = variable(0, "x");
  std::vector<double> at;
  optim::LBFGS lbfgs{
      {x}, {.lr = 1, .max_iter = 1, .max_eval = 30, .tolerance_change = tolerance_change, .line_search_fn = wolfe}};
  lbfgs.step([&] { return at.push_back(x.item()), f(x); });
  return at;
}
using Trials = std::vector<double>;

TEST_CASE("A search ends where the loss has fallen enough and is flat enough, the bounds included") {
  // Strong Wolfe conditions: f(t) <= f(0) + 1e-4 t f'(0) and |f'(t)| <= 0.9 |f'(0)|.
  CHECK(trials([](const Tensor& x) { return -1e-4 * x - 0.9999 * x * square(1 - x); }) == Trials{0, 1});
  CHECK(trials([](const Tensor& x) { return 0.05 * square(x) - x; }) == Trials{0, 1});
  CHECK(trials([](const Tensor& x) { return 0.04 * square(x) - x; }).size() > 2);
}

TEST_CASE("A search goes on while its bracket is no narrower than tolerance_change") {
  const auto f = [](const Tensor& x) { return 2 * square(x) - x; };
  CHECK(trials(f, 1) == Trials{0, 1, 0.25});
}

TEST_CASE("Where the cubic through two trials has no minimum a search goes on in the middle of where it may be") {
  // Slopes and values at 0 and 1 that make it 0 / 0; the third trial may be from 1.01 to 10.
  const auto at = trials([](const Tensor& x) { return -x + 2.5 * square(x) - 2 * x * square(x); });
  REQUIRE(at.size() > 2);
  CHECK(at[2] == doctest::Approx(5.505).epsilon(1e-12));
}

TEST_CASE("After two trials near an end of the bracket, or at once at the end, a search tries a tenth of it inwards") {
  const auto left = trials([](const Tensor& x) { return bent(x, 0.1, 200) - x; });
  REQUIRE(left.size() > 4);
  CHECK(left[2] < 0.1);
  CHECK(left[3] == doctest::Approx(left[2] + 0.1 * (left[1] - left[2])).epsilon(1e-9));
  CHECK(left.size() < 10);  // it takes few to find the kink
  // A bracket from 1 to 2, where the cubic through 0 and 1 is lowest.
  const auto beyond =
      trials([](const Tensor& x) { return bent(x, 1.05, 200) - x - 0.2 * square(x) + 0.15 * x * square(x); });
  REQUIRE(beyond.size() > 4);
  CHECK(beyond[2] == doctest::Approx(2).epsilon(0.01));
  CHECK((beyond[3] > 1 && beyond[3] < 1.05));
  CHECK(beyond[4] == doctest::Approx(beyond[3] + 0.1 * (beyond[2] - beyond[3])).epsilon(1e-9));
  const auto right = trials([](const Tensor& x) { return bent(x, 0.55, 10'002) - bent(x, 0.05, 10'000) - x; });
  REQUIRE(right.size() > 4);
  CHECK((right[2] > 0.9 * right[1] && right[2] < right[1]));
  CHECK(right[3] == doctest::Approx(0.9 * right[2]).epsilon(1e-9));
  const auto at_end = trials([](const Tensor& x) { return 0x1p60 * square(x) - x; });
  REQUIRE(at_end.size() > 3);
  CHECK(at_end[2] == doctest::Approx(0.1).epsilon(1e-9));
  CHECK(at_end[3] == doctest::Approx(0.01).epsilon(1e-9));
}

TEST_CASE(
    "Without a search the first iteration moves by lr along the gradient, no further than lr, and evaluates once") {
  for (const double slope : {0.25, 1., 4.}) {
    CAPTURE(slope);
    const Tensor x = variable(0, "x");
    optim::LBFGS lbfgs{{x}, {.lr = 0.5, .max_iter = 1, .max_eval = 9}};
    CHECK(lbfgs.step([&] { return slope * x; }).evaluations == 1);
    CHECK(x.item() == doctest::Approx(-0.5 * std::min(1., slope)).epsilon(1e-12));
  }
}

TEST_CASE("L-BFGS does not step where every element of the gradient is within tolerance_grad") {
  const Tensor x = variable(Array({2}, {0.25, -0.5}), "x");
  const auto iterations = [&](double tolerance) {
    return optim::LBFGS({x}, {.tolerance_grad = tolerance}).step([&] { return sum(square(x)) / 2; }).iterations;
  };
  CHECK(iterations(0.5) == 0);
  CHECK(equal(x.value(), Array({2}, {0.25, -0.5})));
  CHECK(iterations(0.4) > 0);
}

TEST_CASE("A step of L-BFGS that an observer throws in is done whole") {
  const auto two_steps = [](bool watched) {
    const Quadratic q;
    optim::LBFGS lbfgs{q.parameters, {.max_iter = 2}};
    const auto step = [&] { lbfgs.step([&] { return q.loss(); }); };
    if (watched) {
      const Refusing observer;
      CHECK(error_of<std::runtime_error>(step) == "no");
    } else {
      step();
    }
    step();
    return q.x.value();
  };
  CHECK(equal(two_steps(true), two_steps(false)));
}

TEST_CASE("L-BFGS refuses bad options and losses, and nothing changes") {
  const Quadratic q;
  optim::LBFGS lbfgs{q.parameters, {.line_search_fn = wolfe}};
  const auto with = [&](const optim::LbfgsOptions& options) { optim::LBFGS(q.parameters, options); };
  CHECK_REFUSED(ValueError, with({.lr = -1}), "lbfgs", "lr -1 is negative");
  CHECK_REFUSED(ValueError, with({.max_iter = 0}), "lbfgs", "max_iter 0 is not positive");
  CHECK_REFUSED(ValueError, with({.max_eval = 0}), "lbfgs", "max_eval 0 is not positive");
  CHECK_REFUSED(ValueError, with({.tolerance_grad = -1}), "lbfgs", "tolerance_grad -1 is negative");
  CHECK_REFUSED(ValueError, with({.tolerance_change = -1}), "lbfgs", "tolerance_change -1 is negative");
  CHECK_REFUSED(ValueError, with({.history_size = 0}), "lbfgs", "history_size 0 is not positive");
  CHECK_REFUSED(ValueError, optim::LBFGS({q.x, q.x}), "lbfgs", "duplicate parameter 'x'");
  CHECK_REFUSED(ValueError, lbfgs.step({}), "lbfgs", "the function is empty");
  CHECK_REFUSED(ValueError, lbfgs.set_lr(-1), "set_lr", "lr -1 is negative");
  CHECK_REFUSED(GraphError, optim::LBFGS({q.x * 2}), "lbfgs", "only leaves can be parameters", "mul");

  const Array x = q.x.value();
  for (int good = 0; good < 4; ++good) {  // the trouble comes in the first evaluation, or later
    CAPTURE(good);
    const auto after = [&](const auto& bad) {
      return [&, bad, calls = 0]() mutable { return calls++ < good ? q.loss() : bad(); };
    };
    const auto nan = std::numeric_limits<Real>::quiet_NaN();
    CHECK_REFUSED(ShapeError, lbfgs.step(after([&] { return q.x * 2; })), "lbfgs", "the loss has shape [3, 2]");
    CHECK_REFUSED(NumericError, lbfgs.step(after([&] { return sum(q.x) * nan; })), "lbfgs", "the loss is nan");
    CHECK_REFUSED(NumericError, lbfgs.step(after([&] { return sum(sqrt(q.b * 0)); })), "lbfgs",
                  "non-finite gradient in 'b'");
    CHECK_THROWS_AS(lbfgs.step(after([]() -> Tensor { throw std::runtime_error("no data"); })), std::runtime_error);
    CHECK(equal(q.x.value(), x));
    CHECK(lbfgs.state_dict().get<Index>("n_iter").item() == 0);
  }
}

TEST_CASE("L-BFGS goes on bit for bit from a file of the state after any number of iterations") {
  const TemporaryFolder folder;
  for (const std::int64_t iterations : {0, 1, 2, 5}) {
    for (const auto search : {optim::LineSearch::none, wolfe}) {
      CAPTURE(iterations);
      const Quadratic straight, paused;
      optim::LbfgsOptions options{.lr = 0.1, .max_iter = 1, .max_eval = 10, .history_size = 4, .line_search_fn = search};
      optim::LBFGS one{straight.parameters, options}, before{paused.parameters, options};
      options.lr = 1;  // that of the state is taken
      optim::LBFGS after{paused.parameters, options};
      for (std::int64_t step = 0; step < iterations + 3; ++step) {
        if (step == iterations) {
          save_safetensors(folder / "state", before.state_dict());
          after.load_state_dict(load_safetensors(folder / "state"));
          CHECK(after.lr() == 0.1);
        }
        one.step([&] { return straight.loss(); });
        (step < iterations ? before : after).step([&] { return paused.loss(); });
      }
      CHECK(one.state_dict().get<Index>("n_iter").item() == iterations + 3);
      CHECK(equal(straight.x.value(), paused.x.value()));
      CHECK(equal(straight.b.value(), paused.b.value()));
    }
  }
}

TEST_CASE("L-BFGS refuses states that no step leaves behind") {
  const Quadratic q;
  optim::LBFGS after{q.parameters, {.max_iter = 3, .history_size = 4, .line_search_fn = wolfe}};
  for (int step = 0; step < 2; ++step) after.step([&] { return q.loss(); });
  const StateFile good = after.state_dict();
  const auto refusal = [&](const auto& spoil) { return refusal_of(after, good, spoil); };
  CHECK(refusal([](StateFile& s) { s.metadata["optimizer"] = "adam"; }) ==
        "load_state_dict: the state of \"adam\" does not fit \"lbfgs\"");
  CHECK(refusal([](StateFile& s) { s.metadata["lr"] = "-1"; }) == "load_state_dict: -1 is no learning rate");
  CHECK(refusal([](StateFile& s) { s.metadata["t"] = "inf"; }) == "load_state_dict: \"t\" is inf");
  CHECK(refusal([](StateFile& s) { s.metadata["t"] = "x"; }) == "load_state_dict: \"x\" is no finite number");
  const std::string misfit = "load_state_dict: the state does not fit\n  mismatched:\n    ";
  CHECK(refusal([](StateFile& s) { s.arrays["d"] = Array({3}, Real(0)); }) == misfit + "\"d\" [3] for [11]");
  CHECK(refusal([](StateFile& s) { s.arrays["d"] = Array({11}, std::numeric_limits<Real>::infinity()); }) ==
        misfit + "\"d\" holds a number that is not finite");
  CHECK(refusal([](StateFile& s) { s.arrays["n_iter"] = Index({}, -1); }) ==
        "load_state_dict: lbfgs cannot have made -1 steps");
  CHECK(refusal([](StateFile& s) { s.arrays["old_stps.0"] = Array({11}, Real(0)); }) ==
        misfit + "\"old_dirs.0\" is not along the change of the parameters");
  CHECK(refusal([](StateFile& s) { s.arrays["x"] = Array({1}, Real(0)); }) ==
        "load_state_dict: the state does not fit\n  unexpected:\n    \"x\"");
  optim::LBFGS said(q.parameters, {.max_iter = 8, .max_eval = 10}), unsaid(q.parameters, {.max_iter = 8});
  CHECK_NOTHROW(unsaid.load_state_dict(said.state_dict()));  // 5/4 of 8 is what is meant
  optim::LBFGS shorter{q.parameters, {.history_size = 1}};
  CHECK_THROWS_AS(shorter.load_state_dict(good), FormatError);
}

}  // namespace
}  // namespace xgrad::testing
