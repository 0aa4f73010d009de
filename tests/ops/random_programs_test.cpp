// Random programs of 5 to 30 operations, each run in many ways that have to agree: with and without a graph, in composed
// forms, in checkpoints, with hooks, on threads, and differentiated by every function that there is; first and second
// gradients against finite differences. XGRAD_CASES says how many, XGRAD_SEED where they begin; a failure shows the
// program and its number, which `XGRAD_SEED=number XGRAD_CASES=1` repeats.
#include <algorithm>
#include <cmath>
#include <thread>
#include <utility>
#include <vector>

#include <xgrad/ops/ops.h>

#include "support/draw.h"
#include "support/fused.h"
#include "support/programs.h"
#include "support/threads.h"

using namespace xgrad;
using namespace xgrad::testing;

namespace {

using Arrays = std::vector<Array>;

Arrays values_of(const Tensors& xs) {
  Arrays all;
  for (const Tensor& x : xs) all.push_back(x.value());
  return all;
}

// All a_i b_i.
double inner_product(const Arrays& a, const Arrays& b, double (*of)(double) = [](double term) { return term; }) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::int64_t j = 0; j < a[i].size(); ++j) {
      sum += of(static_cast<double>(a[i].data()[j]) * static_cast<double>(b[i].data()[j]));
    }
  }
  return sum;
}
double most_of(const Arrays& all) {
  double most = 0;
  for (const Array& each : all) most = std::max(most, largest(each));
  return most;
}

void check_equal(const Arrays& a, const Arrays& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    check_close(a[i], expected[i], 0);
  }
}
// Up to rounding in another order.
void check_close_to(const Arrays& a, const Arrays& expected) {
  const double terms = std::max(1.0, most_of(expected));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    check_close(a[i], expected[i], 1e-9, terms);
  }
}

Arrays first_gradients(const Function& f, const Arrays& at) {
  const Tensors xs = variables(at);
  return values_of(grad(f(xs), xs, {.unused = Unused::zeros}));
}

struct Derivatives {
  Array value;
  Arrays first, second;  // the second: of <direction, gradient>
};

Derivatives derivatives_of(const Function& f, const Arrays& at, const Arrays& directions) {
  const Tensors xs = variables(at);
  const Tensor y = f(xs);
  const Tensors first = grad(y, xs, {.create_graph = true, .unused = Unused::zeros});
  Tensor along = 0;
  for (std::size_t i = 0; i < xs.size(); ++i) along += sum(first[i] * Tensor(directions[i]));
  Derivatives all{y.value(), values_of(first), {}};
  if (along.requires_grad()) {
    all.second = values_of(grad(along, xs, {.unused = Unused::zeros}));
  } else {
    for (const Array& x : at) all.second.emplace_back(x.shape(), Real(0));
  }
  return all;
}

// A program with its value and gradients as everything else has to have them.
class Trial {
 public:
  explicit Trial(std::uint64_t number) : program(program_of(number)), draw(number + 1'000'000'000) {
    for (const Array& leaf : program.leaves) directions.push_back(draw.normal(leaf.shape()));
    expected = derivatives_of(loss(), program.leaves, directions);
    gradients = first_gradients(loss(), program.leaves);
  }

  void check() {
    check_close_to(expected.first, gradients);
    check_without_graph();
    check_plain();
    check_checkpoints();
    check_passes();
    check_hooks();
    check_threads();
    check_products();
    for (int i = 0; i < 2; ++i) check_parts();
    check_differences();
  }

  const Program program;

 private:
  // Runs the program; after each step `change` may replace its values, [first, end).
  template <class Change>
  Tensors run(const Tensors& xs, const Change& change) const {
    Tensors values(static_cast<std::size_t>(program.count()));
    for (std::size_t s = 0; s < program.steps.size(); ++s) {
      program.run(xs, values, s, s + 1);
      for (int v = program.steps[s].first; v < program.steps[s].end(); ++v) change(v, values[static_cast<std::size_t>(v)]);
    }
    return values;
  }
  Tensors run(const Tensors& xs) const {
    return run(xs, [](int, Tensor&) {});
  }
  Function loss() const {
    return [this](const Tensors& xs) { return run(xs).back(); };
  }

  void check_is_expected(const Derivatives& got) const {
    check_close_to({got.value}, {expected.value});
    check_close_to(got.first, expected.first);
    check_close_to(got.second, expected.second);
  }

  void check_without_graph() const {
    INFO("without a graph");
    const Tensors xs = variables(program.leaves);
    const NoGrad off;
    const Tensor y = loss()(xs);
    CHECK(!y.requires_grad());
    check_equal({y.value()}, {expected.value});
  }

  void check_plain() const {
    INFO("in composed forms");
    const Plain plain;
    check_is_expected(derivatives_of(loss(), program.leaves, directions));
  }

  void check_checkpoints() {
    const auto whole = [this](const Tensors& xs) { return checkpoint(loss(), xs); };
    {
      INFO("in a checkpoint");
      check_is_expected(derivatives_of(whole, program.leaves, directions));
      check_close_to(first_gradients(whole, program.leaves), gradients);
    }
    const auto steps = static_cast<std::int64_t>(program.steps.size());
    const auto from = static_cast<std::size_t>(draw.from(0, steps - 1));
    const std::size_t to = static_cast<std::size_t>(draw.from(static_cast<std::int64_t>(from) + 1, steps));
    INFO("with a checkpoint of steps ", from, " to ", to - 1);
    const auto with_part = [=, this](const Tensors& xs) { return run_with_checkpoint(xs, from, to); };
    check_is_expected(derivatives_of(with_part, program.leaves, directions));
    check_close_to(first_gradients(with_part, program.leaves), gradients);
  }

  // The steps [from, to) in a checkpoint, all of whose results come back as one vector.
  Tensor run_with_checkpoint(const Tensors& xs, std::size_t from, std::size_t to) const {
    Tensors values(static_cast<std::size_t>(program.count()));
    program.run(xs, values, 0, from);
    const int first = program.steps[from].first, end = program.steps[to - 1].end();
    Tensors inputs;
    std::vector<int> numbers;
    for (std::size_t s = from; s < to; ++s) {
      for (const int input : program.steps[s].inputs) {
        if (input >= first || std::ranges::find(numbers, input) != numbers.end()) continue;
        numbers.push_back(input);
        inputs.push_back(values[static_cast<std::size_t>(input)]);
      }
    }
    const Tensor packed = checkpoint(
        [=, this](const Tensors& given) {
          Tensors inner(static_cast<std::size_t>(program.count())), results;
          for (std::size_t i = 0; i < numbers.size(); ++i) inner[static_cast<std::size_t>(numbers[i])] = given[i];
          program.run(xs, inner, from, to);
          for (int v = first; v < end; ++v) results.push_back(flatten(inner[static_cast<std::size_t>(v)]));
          return concat(results);
        },
        inputs);
    std::int64_t at = 0;
    for (std::size_t s = from; s < to; ++s) {
      const Step& step = program.steps[s];
      for (int v = step.first; v < step.end(); ++v) {
        const Shape& shape = step.shapes[static_cast<std::size_t>(v - step.first)];
        values[static_cast<std::size_t>(v)] = reshape(narrow(packed, 0, at, shape.numel()), shape);
        at += shape.numel();
      }
    }
    program.run(xs, values, to, program.steps.size());
    return values.back();
  }

  void check_passes() const {
    INFO("in several passes");
    const Tensors xs = variables(program.leaves);
    const Tensor y = loss()(xs);
    for (const bool kept : {true, false}) {
      check_equal(values_of(grad(y, xs, {.retain_graph = kept, .unused = Unused::zeros})), gradients);
    }
    loss()(xs).backward();
    check_accumulated(xs, 1);
    loss()(xs).backward();
    check_accumulated(xs, 2);
  }

  void check_accumulated(const Tensors& xs, Real times) const {
    for (std::size_t i = 0; i < xs.size(); ++i) {
      CAPTURE(i);
      if (!xs[i].has_grad()) {
        CHECK(largest(gradients[i]) == 0);
        continue;
      }
      check_close(xs[i].grad().value(), (Tensor(gradients[i]) * times).value(), 0);
    }
  }

  void check_hooks() const {
    INFO("with hooks that see every gradient");
    const Tensors xs = variables(program.leaves);
    const auto count = static_cast<std::size_t>(program.count());
    std::vector<int> calls(count);
    Arrays seen(count);
    const Tensors values = run(xs, [&](int v, Tensor& value) {
      if (!value.requires_grad()) return;
      if (!value.is_leaf()) value.retain_grad();
      value.on_grad([&calls, &seen, at = static_cast<std::size_t>(v)](const Tensor& gradient) {
        ++calls[at];
        seen[at] = gradient.value();
        return Tensor();
      });
    });
    values.back().backward();
    check_accumulated(xs, 1);
    for (std::size_t v = 0; v < count; ++v) {
      CAPTURE(v);
      CHECK(calls[v] == (values[v].requires_grad() && values[v].has_grad()));
      if (calls[v] > 0) check_close(values[v].grad().value(), seen[v], 0);
    }
  }

  void check_threads() const {
    INFO("on threads");
    const ThreadCount three(3);
    check_equal({loss()(variables(program.leaves)).value()}, {expected.value});
    check_equal(first_gradients(loss(), program.leaves), gradients);
    const Tensors xs = variables(program.leaves);
    const auto pass = [&] { loss()(xs).backward(); };
#ifdef __EMSCRIPTEN__  // has no threads
    pass();
    pass();
#else
    std::thread other(pass);
    pass();
    other.join();
#endif
    check_accumulated(xs, 2);
  }

  void check_products() const {
    INFO("by jvp, vjp and hvp");
    Tensors along;
    for (const Array& direction : directions) along.push_back(direction);
    const Tensors xs = variables(program.leaves);
    check_close_to(values_of(vjp(loss(), xs).products), gradients);
    check_close_to(values_of(hvp(loss(), xs, along).products), expected.second);
    const double size = std::max(1.0, inner_product(gradients, directions, std::abs));
    check_close(jvp(loss(), xs, along).product.value(), Array({}, Real(inner_product(gradients, directions))), 1e-10,
                size);
  }

  // The program split at one of its values: what comes after it as a function of it, what comes before it, and the ways
  // that go around it.
  void check_parts() {
    const Step& step = program.steps[static_cast<std::size_t>(draw.from(0, std::ssize(program.steps) - 1))];
    const auto at = static_cast<std::size_t>(draw.from(step.first, step.end() - 1));
    INFO("split at %", at);
    const Tensors xs = variables(program.leaves), values = run(xs);
    if (!values[at].requires_grad()) return;
    const Array of_value =
        grad(values.back(), {values[at]}, {.retain_graph = true, .unused = Unused::zeros})[0].value();
    const Tensor cut = variable(values[at].value());
    const Tensors after = run(xs, [&](int v, Tensor& value) {
                           if (std::cmp_equal(v, at)) value = cut;
                         });
    Tensors all = xs;
    all.push_back(cut);
    Arrays parts = values_of(grad(after.back(), all, {.unused = Unused::zeros}));
    check_close_to({of_value}, {parts.back()});
    parts.pop_back();
    const Tensors before = grad(values[at], xs, {.seed = of_value, .unused = Unused::zeros});
    for (std::size_t i = 0; i < xs.size(); ++i) parts[i] = (Tensor(parts[i]) + before[i]).value();
    check_close_to(parts, gradients);
    if (step.run == nullptr) return;
    // <v, J w> both ways.
    const auto value_alone = [this, at](const Tensors& leaves) { return run(leaves)[at]; };
    Tensors along;
    for (const Array& direction : directions) along.push_back(direction);
    const OutputAndProduct forward = jvp(value_alone, xs, along);
    check_close_to({forward.output.value()}, {values[at].value()});
    const double there = inner_product({forward.product.value()}, {of_value}),
                 back = inner_product(values_of(before), directions),
                 size = inner_product(values_of(before), directions, std::abs);
    CHECK(std::abs(there - back) <= 1e-10 * std::max(1.0, size));
  }

  // With the step that suits the program best: a wrong gradient has none.
  void check_differences() const {
    const auto moved = [this](double by) {
      Arrays all = program.leaves;
      for (std::size_t i = 0; i < all.size(); ++i) {
        Real* x = all[i].mutable_data();
        for (std::int64_t j = 0; j < all[i].size(); ++j) x[j] += static_cast<Real>(by) * directions[i].data()[j];
      }
      return all;
    };
    const auto value_at = [&](double by) {
      const NoGrad off;
      Tensors xs;
      for (const Array& each : moved(by)) xs.push_back(each);
      return static_cast<double>(loss()(xs).item());
    };
    const double exact = inner_product(gradients, directions);
    const double size = inner_product(gradients, directions, std::abs) + 1e-2 * std::abs(double(expected.value.item())) + 1e-3;
    const double second_size = most_of(expected.second) + 1e-2 * most_of(gradients) + 1e-3;
    double first_error = infinity, second_error = infinity;
    for (const double h : {1e-3, 1e-4, 1e-2, 1e-5}) {
      if (first_error > 1e-6) first_error = std::min(first_error, std::abs(slope(value_at, h) - exact) / size);
      if (second_error > 1e-6) {
        const Arrays a = first_gradients(loss(), moved(h)), b = first_gradients(loss(), moved(-h)),
                     c = first_gradients(loss(), moved(2 * h)), d = first_gradients(loss(), moved(-2 * h));
        double worst = 0;
        for (std::size_t i = 0; i < a.size(); ++i) {
          for (std::int64_t j = 0; j < a[i].size(); ++j) {
            const double numeric =
                (8 * (double(a[i].data()[j]) - b[i].data()[j]) - (double(c[i].data()[j]) - d[i].data()[j])) / (12 * h);
            worst = std::max(worst, std::abs(numeric - expected.second[i].data()[j]));
          }
        }
        second_error = std::min(second_error, worst / second_size);
      }
    }
    CHECK_MESSAGE(first_error <= 1e-6, "the gradient is not the slope");
    CHECK_MESSAGE(second_error <= 1e-6, "the second gradient is not the slope of the first");
  }

  Draw draw;
  Arrays directions;
  Derivatives expected;
  Arrays gradients;  // without the graph of the gradient
};

}  // namespace

TEST_CASE("a random program has one value, one gradient and one second gradient, however it is run") {
  const std::int64_t first = first_wanted_case(), cases = wanted_cases(96);
  for (std::int64_t number = first; number < first + cases; ++number) {
    CAPTURE(number);
    Trial trial(static_cast<std::uint64_t>(number));
    INFO(str(trial.program));
    trial.check();
  }
}
