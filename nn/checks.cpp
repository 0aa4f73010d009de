// Values that must not move. The results of the modules in both runs show where a leak begins: the first module to finish
// with a result that differs where its inputs do not.
#include "checks.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <ostream>

#include "../core/array/random.h"
#include "../core/array/shape_hints.h"
#include "../core/base/text.h"
#include "../core/graph/grad.h"
#include "../ops/arrange/slice.h"
#include "hook_everywhere.h"

namespace xgrad::nn {
namespace {

using xgrad::detail::rounded;

// Sequences: B rows of T positions, each of some numbers.
struct Layout {
  std::int64_t B, T;

  bool fits(const Shape& shape) const { return shape.rank() >= 2 && shape[0] == B && shape[1] == T; }
  std::int64_t row(std::int64_t element, const Shape& shape) const { return element / (shape.numel() / B); }
  std::int64_t position(std::int64_t element, const Shape& shape) const {
    return element / (shape.numel() / (B * T)) % T;
  }
};
// Which positions of which rows.
using Where = std::function<bool(std::int64_t b, std::int64_t t)>;

// The ids at these places replaced by others of the same batch.
Index changed(const char* op, const Index& x, const Layout& layout, const Where& where) {
  std::vector<std::int64_t> ids(x.begin(), x.end());
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  if (ids.size() < 2) fail<ValueError>(op, "all ids are ", ids[0], ", so there is none to put in place of another");
  Index result = x;
  std::int64_t* out = result.mutable_data();
  for (std::int64_t i = 0; i < x.size(); ++i) {
    if (!where(layout.row(i, x.shape()), layout.position(i, x.shape()))) continue;
    const auto next = std::ranges::upper_bound(ids, out[i]);
    out[i] = next == ids.end() ? ids.front() : *next;
  }
  return result;
}

// The numbers at these places moved by random ones.
Tensor changed(const char*, const Tensor& x, const Layout& layout, const Where& where) {
  Array result = x.value();
  const Array noise = random_normal(x.shape(), {.seed = 0, .draw = 1});
  Real* out = result.mutable_data();
  for (std::int64_t i = 0; i < x.size(); ++i) {
    if (where(layout.row(i, x.shape()), layout.position(i, x.shape()))) out[i] += noise.data()[i];
  }
  return result;
}

// Where two arrays of one shape differ though they must not: the first element, and the largest distance.
struct Difference {
  std::int64_t element = 0;
  double most = 0;
};

template <class Counts>
Difference difference(const Array& one, const Array& two, const Counts& counts, double allowed = 0) {
  Difference found;
  for (std::int64_t i = 0; i < one.size(); ++i) {
    const double a = one.data()[i], b = two.data()[i];
    if (a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= allowed || !counts(i)) continue;
    if (found.most == 0) found.element = i;
    found.most = std::isnan(a - b) ? std::numeric_limits<double>::infinity() : std::max(found.most, std::abs(a - b));
  }
  return found;
}

// The first module whose results for two inputs differ at a place where they must not, though its own inputs do not.
template <class F, class X>
std::string first_module(const F& f, const X& x, const X& other, const Module* model, const Layout& layout,
                         const Where& same) {
  struct Result {
    const Module* module;
    Tensors inputs;
    Tensor output;
  };
  const auto results = [&](const X& input) {
    std::vector<Result> all;
    const detail::HookEverywhere hook(model, [&](const ForwardCall& call) {
      all.push_back({&call.module, call.inputs, call.output});
    });
    f(input);
    return all;
  };
  const std::vector<Result> one = results(x), two = results(other);
  const auto wrong = [&](const Tensor& a, const Tensor& b) {
    const Shape& shape = a.shape();
    if (b.shape() != shape || !layout.fits(shape)) return false;
    const auto at = [&](std::int64_t i) { return same(layout.row(i, shape), layout.position(i, shape)); };
    return difference(a.value(), b.value(), at).most != 0;
  };
  for (std::size_t k = 0; k < std::min(one.size(), two.size()); ++k) {
    if (one[k].module != two[k].module || !wrong(one[k].output, two[k].output)) continue;
    if (!std::ranges::equal(one[k].inputs, two[k].inputs, std::not_fn(wrong))) continue;
    const Module& module = *one[k].module;
    return module.path().empty() ? module.description() : cat(module.path(), " (", module.description(), ")");
  }
  return {};
}

template <class X>
Layout layout_of(const char* op, const X& x) {
  constexpr bool ids = std::same_as<X, Index>;
  if (ids ? x.rank() != 2 : x.rank() < 2) {
    const std::string hint = ids ? xgrad::detail::batch_axis_hint(x.shape(), Shape{-1}) : std::string();
    fail<ShapeError>(op, ids ? "needs ids (B, T), got " : "needs x (B, T, ...), got ", x.shape(), hint);
  }
  if (x.size() == 0) fail<ValueError>(op, "x ", x.shape(), " is empty");
  return {x.dim(0), x.dim(1)};
}

bool everywhere(std::int64_t) { return true; }

// f(x), which must be the same twice and, with `positions`, have the layout of x.
template <class F, class X>
Array steady_value(const char* op, const F& f, const X& x, const Layout& layout, bool positions) {
  const Array once = f(x).value(), again = f(x).value();
  if (once.shape() != again.shape() || difference(once, again, everywhere).most != 0) {
    fail<ValueError>(
        op, "f gives other values for the same input: does it draw random numbers? nn::Eval switches dropout off");
  }
  if (positions && (!layout.fits(once.shape()) || once.size() == 0)) {
    fail<ShapeError>(op, "for an input ", x.shape(), " needs an output (", layout.B, ", ", layout.T, ", ...), got ",
                     once.shape());
  }
  return once;
}

// f(x) for another input: it must have the shape of the first.
template <class F, class X>
Array other_value(const char* op, const F& f, const X& x, const Shape& shape) {
  Array other = f(x).value();
  if (other.shape() != shape) {
    fail<ShapeError>(op, "the output is ", other.shape(), " and was ", shape, " for other inputs");
  }
  return other;
}

}  // namespace

template <class X>
CausalityReport detail::check_causality(const std::function<Tensor(const X&)>& f, const X& x, const Module* model) {
  constexpr const char* op = "check_causality";
  const Layout layout = layout_of(op, x);
  if (layout.T < 2) fail<ValueError>(op, "needs at least 2 positions, got ", x.shape());
  std::optional<Eval> eval;
  if (model) eval.emplace(*model);
  const NoGrad off;
  const Array y = steady_value(op, f, x, layout, true);
  CausalityReport report{.positions = layout.T};
  const auto with_other = [&](std::int64_t s) {
    return changed(op, x, layout, [s](std::int64_t, std::int64_t t) { return t == s; });
  };
  for (std::int64_t s = 0; s < layout.T; ++s) {
    const Array other = other_value(op, f, with_other(s), y.shape());
    report.depends |= difference(y, other, everywhere).most != 0;
    std::int64_t first = report.leak ? report.leak->t : s;  // before it no output has moved yet
    const auto earlier = [&](std::int64_t i) { return layout.position(i, y.shape()) < first; };
    while (difference(y, other, earlier).most != 0) --first;
    if (first == (report.leak ? report.leak->t : s)) continue;
    const auto at_first = [&](std::int64_t i) { return layout.position(i, y.shape()) == first; };
    report.leak = {.t = first, .s = s, .change = difference(y, other, at_first).most};
  }
  if (report.leak) {
    const std::int64_t s = report.leak->s;
    report.leak->module =
        first_module(f, x, with_other(s), model, layout, [s](std::int64_t, std::int64_t t) { return t < s; });
  }
  return report;
}

template <class X>
PaddingInvarianceReport detail::check_padding_invariance(const std::function<Tensor(const X&, const Index&)>& run_with,
                                                         const X& x, const Index& lengths,
                                                         const PaddingInvarianceOptions& options) {
  constexpr const char* op = "check_padding_invariance";
  const Layout layout = layout_of(op, x);
  if (lengths.shape() != Shape{layout.B}) {
    fail<ShapeError>(op, "lengths of shape ", lengths.shape(), " for ", layout.B, " rows");
  }
  for (const std::int64_t length : lengths) {
    if (length < 0 || length > layout.T) fail<ValueError>(op, "length ", length, " is not in [0, ", layout.T, "]");
  }
  const std::int64_t longest = std::ranges::max(lengths);
  if (longest == 0 || std::ranges::min(lengths) == layout.T) {
    fail<ValueError>(op, "needs both padding and positions that count, got lengths ", lengths, " of ", layout.T);
  }
  if (!(options.tolerance >= 0)) fail<ValueError>(op, "tolerance is ", options.tolerance);
  const Where counts = [&lengths](std::int64_t b, std::int64_t t) { return t < lengths.data()[b]; };
  std::optional<Eval> eval;
  if (options.model) eval.emplace(*options.model);
  const NoGrad off;
  const bool by_position = options.output == PaddedOutput::positions;
  const auto f = [&](const X& input) { return run_with(input, lengths); };
  const Array y = steady_value(op, f, x, layout, by_position);
  PaddingInvarianceReport report;
  // Compares outputs where they count; `columns` are missing in `other`.
  const auto compare = [&](const Array& reference, const Array& other, double allowed, std::int64_t columns) {
    const Shape& shape = reference.shape();
    const Layout positions{layout.B, layout.T - columns};
    const auto counted = [&](std::int64_t i) {
      return !by_position || counts(positions.row(i, shape), positions.position(i, shape));
    };
    const Difference found = difference(reference, other, counted, allowed);
    if (found.most == 0) return;
    Shape at = position_of(found.element, shape);
    if (by_position) at = {at[0], at[1]};
    report.leak = {.output = at, .change = found.most, .columns = columns};
  };

  compare(y, other_value(op, f, changed(op, x, layout, counts), y.shape()), 0, 0);
  report.depends = report.leak.has_value();
  report.leak.reset();
  const X other = changed(op, x, layout, std::not_fn(counts));
  compare(y, other_value(op, f, other, y.shape()), 0, 0);
  if (report.leak) {
    report.leak->module = first_module(f, x, other, options.model, layout, counts);
  } else if (longest < layout.T) {
    double largest = 0;
    for (const Real value : y) largest = std::max(largest, std::abs(static_cast<double>(value)));
    const Slices kept{_, slice(0, longest)};
    const Array wide = by_position ? xgrad::slice(y, kept) : y;
    compare(wide, other_value(op, f, X(xgrad::slice(x, kept)), wide.shape()), options.tolerance * largest,
            layout.T - longest);
  }
  return report;
}

template CausalityReport detail::check_causality(const std::function<Tensor(const Index&)>&, const Index&,
                                                 const Module*);
template CausalityReport detail::check_causality(const std::function<Tensor(const Tensor&)>&, const Tensor&,
                                                 const Module*);
template PaddingInvarianceReport detail::check_padding_invariance(
    const std::function<Tensor(const Index&, const Index&)>&, const Index&, const Index&,
    const PaddingInvarianceOptions&);
template PaddingInvarianceReport detail::check_padding_invariance(
    const std::function<Tensor(const Tensor&, const Index&)>&, const Tensor&, const Index&,
    const PaddingInvarianceOptions&);

std::string to_string(const CausalityReport& report) {
  std::string text = "check_causality: ";
  if (report.leak) {
    const auto& [t, s, change, module] = *report.leak;
    append(text, cat("output ", t, " depends on input ", s, ": it moves by ", rounded(change), " with it"));
    if (!module.empty()) append(text, cat("; first in ", module));
  } else if (!report.depends) {
    append(text, "no output depends on any input: does f use what it is given?");
  } else {
    append(text, cat("no output depends on a later input (", report.positions, " positions)"));
  }
  return text + "\n";
}

std::string to_string(const PaddingInvarianceReport& report) {
  std::string text = "check_padding_invariance: ";
  if (report.leak) {
    const auto& [output, change, module, columns] = *report.leak;
    append(text, cat("output ", output, " moves by ", rounded(change)));
    if (columns != 0) {
      append(text, cat(" without the last ", columns, columns == 1 ? " column" : " columns", ", which is padding"));
    } else {
      append(text, " with the padding");
    }
    if (!module.empty()) append(text, cat("; first in ", module));
  } else if (!report.depends) {
    append(text, "what counts does not depend on the input: does f use what it is given?");
  } else {
    append(text, "nothing that counts depends on the padding");
  }
  return text + "\n";
}

std::ostream& operator<<(std::ostream& out, const CausalityReport& report) { return out << to_string(report); }
std::ostream& operator<<(std::ostream& out, const PaddingInvarianceReport& report) { return out << to_string(report); }

}  // namespace xgrad::nn
