// Values that must not move. The results of the modules in both runs show where a leak begins: the first module to
// finish with a result that differs where its inputs do not.
#include "checks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>
#include <set>

#include "../../core/array/random.h"
#include "../../core/array/shape_hints.h"
#include "../../core/base/text.h"
#include "../../core/graph/grad.h"
#include "../../ops/shape/slice.h"
#include "hook_everywhere.h"

namespace xgrad::nn {
namespace {

using detail::Sequences;
using detail::Trial;
using xgrad::detail::rounded;

// Position t of row b.
struct Position {
  std::int64_t b, t;
};
using Where = std::function<bool(const Position&)>;

// The place of an element of an array (B, T, ...).
Position place_of(std::int64_t element, const Shape& shape) {
  const std::int64_t place = element / (shape.numel() / (shape[0] * shape[1]));
  return {place / shape[1], place % shape[1]};
}

// Whether an array is (B, T, ...), as x is.
bool fits(const Shape& shape, const Trial& trial) {
  return shape.rank() >= 2 && shape[0] == trial.shape[0] && shape[1] == trial.shape[1];
}

// Refuses x unless it is ids (B, T) or numbers (B, T, ...).
void check_shape(const Trial& trial) {
  const Shape& shape = trial.shape;
  if (std::holds_alternative<Index>(trial.x) && shape.rank() != 2) {
    fail<ShapeError>(trial.op, "needs ids (B, T), got ", shape, xgrad::detail::batch_axis_hint(shape, Shape{-1}));
  }
  if (shape.rank() < 2) fail<ShapeError>(trial.op, "needs x (B, T, ...), got ", shape);
  if (shape.numel() == 0) fail<ValueError>(trial.op, "x ", shape, " is empty");
}

// x with others at these places: ids are replaced by the next ones of the batch, numbers are moved by random ones.
Sequences changed(const Trial& trial, const Where& where) {
  const auto with_others = [&](auto x, const auto& other) {
    auto* out = x.mutable_data();
    for (std::int64_t i = 0; i < x.size(); ++i) {
      if (where(place_of(i, x.shape()))) out[i] = other(i, out[i]);
    }
    return x;
  };
  if (const Tensor* numbers = std::get_if<Tensor>(&trial.x)) {
    const Array noise = random_normal(numbers->shape(), {.seed = 0, .draw = 1});
    return Tensor(with_others(numbers->value(), [&](std::int64_t i, Real x) { return x + noise.data()[i]; }));
  }
  const Index& x = std::get<Index>(trial.x);
  const std::set<std::int64_t> ids(x.begin(), x.end());
  if (ids.size() < 2) {
    fail<ValueError>(trial.op, "all ids are ", x.data()[0], ", so there is none to put in place of another");
  }
  return with_others(x, [&](std::int64_t, std::int64_t id) {
    const auto next = ids.upper_bound(id);
    return next == ids.end() ? *ids.begin() : *next;
  });
}

struct Difference {
  std::int64_t element;
  double by;
};
// The elements by which two arrays of one shape differ more than allowed. NaN equals NaN, and is infinitely far from
// numbers.
std::vector<Difference> differences(const Array& one, const Array& two, double allowed = 0) {
  std::vector<Difference> found;
  for (std::int64_t i = 0; i < one.size(); ++i) {
    const double a = one.data()[i], b = two.data()[i], by = std::abs(a - b);
    if (a == b || (std::isnan(a) && std::isnan(b)) || by <= allowed) continue;
    found.push_back({i, std::isnan(by) ? std::numeric_limits<double>::infinity() : by});
  }
  return found;
}

// f(x), which must be the same twice and, to be read by position, be (B, T, ...); `hint` is for one that is not.
Array steady_value(const Trial& trial, bool by_position, const char* hint = "") {
  Array once = trial.f(trial.x).value();
  const Array again = trial.f(trial.x).value();
  if (once.shape() != again.shape() || !differences(once, again).empty()) {
    fail<ValueError>(trial.op, "f gives other values for the same input: does it draw random numbers? ",
                     "nn::Eval switches dropout off");
  }
  if (by_position && (!fits(once.shape(), trial) || once.size() == 0)) {
    fail<ShapeError>(trial.op, "for an input ", trial.shape, " needs an output (", trial.shape[0], ", ", trial.shape[1],
                     ", ...), got ", once.shape(), hint);
  }
  return once;
}

// f(x) for another input: it must have the shape of the first.
Array other_value(const Trial& trial, const Sequences& x, const Shape& shape) {
  Array other = trial.f(x).value();
  if (other.shape() != shape) {
    fail<ShapeError>(trial.op, "the output is ", other.shape(), " and was ", shape, " for other inputs");
  }
  return other;
}

// The first module whose results for x and `other` differ at a place where they must not, though its inputs do not.
std::string first_module(const Trial& trial, const Sequences& other, const Where& same) {
  struct Result {
    const Module* module;
    Tensors inputs;
    Tensor output;
  };
  const auto results = [&](const Sequences& x) {
    std::vector<Result> all;
    const detail::HookEverywhere hook(trial.model, [&](const ForwardCall& call) {
      all.push_back({&call.module, call.inputs, call.output});
    });
    (void)trial.f(x);
    return all;
  };
  const std::vector<Result> one = results(trial.x), two = results(other);
  const auto wrong = [&](const Tensor& a, const Tensor& b) {
    if (a.shape() != b.shape() || !fits(a.shape(), trial)) return false;
    const auto must_not = [&](const Difference& at) { return same(place_of(at.element, a.shape())); };
    return std::ranges::any_of(differences(a.value(), b.value()), must_not);
  };
  for (std::size_t k = 0; k < std::min(one.size(), two.size()); ++k) {
    if (one[k].module != two[k].module || !wrong(one[k].output, two[k].output)) continue;
    if (!std::ranges::equal(one[k].inputs, two[k].inputs, std::not_fn(wrong))) continue;
    const Module& module = *one[k].module;
    return module.path().empty() ? module.description() : str(module.path(), " (", module.description(), ")");
  }
  return {};
}

}  // namespace

CausalityReport detail::check_causality(const Trial& trial) {
  check_shape(trial);
  CausalityReport report{.positions = trial.shape[1]};
  if (report.positions < 2) fail<ValueError>(trial.op, "needs at least 2 positions, got ", trial.shape);
  std::optional<Eval> eval;
  if (trial.model) eval.emplace(*trial.model);
  const NoGrad off;
  const Array y = steady_value(trial, true);
  std::optional<CausalityLeak>& leak = report.leak;  // the one with the earliest output
  const auto with_other = [&](std::int64_t s) { return changed(trial, [s](const Position& at) { return at.t == s; }); };
  for (std::int64_t s = 0; s < report.positions; ++s) {
    for (const auto& [element, by] : differences(y, other_value(trial, with_other(s), y.shape()))) {
      report.depends = true;
      const std::int64_t t = place_of(element, y.shape()).t;
      if (t < (leak ? leak->t : s)) leak = CausalityLeak{.t = t, .s = s};
      if (leak && leak->t == t && leak->s == s) leak->change = std::max(leak->change, by);
    }
  }
  const auto earlier = [&](const Position& at) { return at.t < leak->s; };
  if (leak) leak->module = first_module(trial, with_other(leak->s), earlier);
  return report;
}

PaddingInvarianceReport detail::check_padding_invariance(const Trial& trial, const Index& lengths,
                                                         const PaddingInvarianceOptions& options) {
  const char* const op = trial.op;
  check_shape(trial);
  const std::int64_t B = trial.shape[0], T = trial.shape[1];
  if (lengths.shape() != Shape{B}) fail<ShapeError>(op, "lengths of shape ", lengths.shape(), " for ", B, " rows");
  for (const std::int64_t length : lengths) {
    if (length < 0 || length > T) fail<ValueError>(op, "length ", length, " is not in [0, ", T, "]");
  }
  const std::int64_t longest = std::ranges::max(lengths);
  if (longest == 0 || std::ranges::min(lengths) == T) {
    fail<ValueError>(op, "needs both padding and positions that count, got lengths ", lengths, " of ", T);
  }
  if (!(options.tolerance >= 0)) fail<ValueError>(op, "tolerance is ", options.tolerance);
  std::optional<Eval> eval;
  if (trial.model) eval.emplace(*trial.model);
  const NoGrad off;
  const bool by_position = options.output == PaddedOutput::positions;
  const Where counts = [&](const Position& at) { return at.t < lengths.data()[at.b]; };
  // How outputs for x differ from `expected` where they count.
  const auto leak_of = [&](const Array& expected, const Sequences& x, double allowed) {
    std::optional<PaddingLeak> leak;
    const Shape& shape = expected.shape();
    for (const auto& [element, by] : differences(expected, other_value(trial, x, shape), allowed)) {
      if (by_position && !counts(place_of(element, shape))) continue;
      const Shape at = position_of(element, shape);
      if (!leak) leak = PaddingLeak{.output = by_position ? Shape{at[0], at[1]} : at};
      leak->change = std::max(leak->change, by);
    }
    return leak;
  };

  const Array y =
      steady_value(trial, by_position, "; for one without positions give .output = PaddedOutput::everything");
  const Sequences padded = changed(trial, std::not_fn(counts));
  const bool depends = leak_of(y, changed(trial, counts), 0).has_value();
  PaddingInvarianceReport report{.depends = depends, .leak = leak_of(y, padded, 0)};
  if (report.leak) {
    report.leak->module = first_module(trial, padded, counts);
  } else if (longest < T) {
    double largest = 0;
    for (const Real value : y) largest = std::max(largest, std::abs(static_cast<double>(value)));
    const Slices counting{_, slice(0, longest)};
    const Sequences narrow = std::visit([&](const auto& x) { return Sequences(xgrad::slice(x, counting)); }, trial.x);
    report.leak = leak_of(by_position ? xgrad::slice(y, counting) : y, narrow, options.tolerance * largest);
    if (report.leak) report.leak->columns = T - longest;
  }
  return report;
}

std::string to_string(const CausalityReport& report) {
  if (report.leak) {
    const auto& [t, s, change, module] = *report.leak;
    return str("check_causality: output ", t, " depends on input ", s, ": it moves by ", rounded(change), " with it",
               module.empty() ? "" : "; first in ", module, "\n");
  }
  if (!report.depends) return "check_causality: no output depends on any input: does f use what it is given?\n";
  return str("check_causality: no output depends on a later input (", report.positions, " positions)\n");
}

std::string to_string(const PaddingInvarianceReport& report) {
  if (report.leak) {
    const auto& [output, change, module, columns] = *report.leak;
    const std::string missing =
        str(" without the last ", columns, columns == 1 ? " column" : " columns", ", which is padding");
    return str("check_padding_invariance: output ", output, " moves by ", rounded(change),
               columns == 0 ? " with the padding" : missing, module.empty() ? "" : "; first in ", module, "\n");
  }
  if (!report.depends) {
    return "check_padding_invariance: what counts does not depend on the input: does f use what it is given?\n";
  }
  return "check_padding_invariance: nothing that counts depends on the padding\n";
}

std::ostream& operator<<(std::ostream& out, const CausalityReport& report) { return out << to_string(report); }
std::ostream& operator<<(std::ostream& out, const PaddingInvarianceReport& report) { return out << to_string(report); }

}  // namespace xgrad::nn
