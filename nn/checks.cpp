// Gradients that must be 0 and values that must not move. Where a leak was found by its values, the modules' results in
// both runs tell where it begins: the first module to finish with a result that differs where its inputs do not.
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
#include "layers/embedding.h"

namespace xgrad::nn {
namespace {

using detail::HookEverywhere;
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
Index changed(const char* op, const Index& x, const Layout& layout, const Where& where, std::uint64_t) {
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
Tensor changed(const char*, const Tensor& x, const Layout& layout, const Where& where, Seed seed) {
  Array result = x.value();
  const Array noise = random_normal(x.shape(), {.seed = seed, .draw = 1});
  Real* out = result.mutable_data();
  for (std::int64_t i = 0; i < x.size(); ++i) {
    if (where(layout.row(i, x.shape()), layout.position(i, x.shape()))) out[i] += noise.data()[i];
  }
  return result;
}

bool differ(double a, double b) { return a != b && !(std::isnan(a) && std::isnan(b)); }

// A result, and the tensors that gradients are taken with respect to: all that stand for the input, (B, T, ...).
struct Recorded {
  Tensor y;
  Tensors xs;
};

template <class F>
Recorded recorded(const F& f, const Tensor& x, const Module*) {
  const EnableGrad on;
  const Tensor leaf = variable(x);
  return {f(leaf), {leaf}};
}

template <class F>
Recorded recorded(const F& f, const Index& x, const Module* model) {
  const EnableGrad on;
  Tensors embedded;
  const HookEverywhere hook(model, [&](const ForwardCall& call) {
    if (!dynamic_cast<const Embedding*>(&call.module) || !call.output.requires_grad()) return;
    if (call.indices.size() == 1 && equal(call.indices[0], x)) embedded.push_back(call.output);
  });
  Tensor y = f(x);
  return {std::move(y), std::move(embedded)};
}

// The largest |gradient| at each place of the inputs, of a random combination of those outputs that are `of`.
struct PlaceGradients {
  PlaceGradients(const Recorded& run, const Layout& layout, const std::function<bool(std::int64_t element)>& of,
                 Seed seed)
      : T(layout.T), largest(static_cast<std::size_t>(layout.B * layout.T), 0) {
    Array v = random_normal(run.y.shape(), {.seed = seed, .draw = 0});
    Real* out = v.mutable_data();
    for (std::int64_t i = 0; i < v.size(); ++i) {
      if (!of(i)) out[i] = 0;
    }
    for (const Tensor& g : grad(run.y, run.xs, {.seed = v, .retain_graph = true, .unused = Unused::zeros})) {
      const std::int64_t numbers = g.size() / (layout.B * layout.T);
      for (std::int64_t i = 0; i < g.size(); ++i) {
        double& most = largest[static_cast<std::size_t>(i / numbers)];
        const double size = std::abs(static_cast<double>(g.value().data()[i]));
        most = std::isnan(size) ? std::numeric_limits<double>::infinity() : std::max(most, size);
      }
    }
  }
  double at(std::int64_t b, std::int64_t t) const { return largest[static_cast<std::size_t>(b * T + t)]; }
  bool any() const {
    return std::ranges::any_of(largest, [](double size) { return size != 0; });
  }

  std::int64_t T;
  std::vector<double> largest;  // by row and position
};

std::string described(const Module& module) {
  return module.path().empty() ? module.description() : cat(module.path(), " (", module.description(), ")");
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
    const HookEverywhere hook(model, [&](const ForwardCall& call) {
      all.push_back({&call.module, call.inputs, call.output});
    });
    f(input);
    return all;
  };
  const std::vector<Result> one = results(x), two = results(other);
  const auto wrong = [&](const Tensor& a, const Tensor& b) {
    const Shape& shape = a.shape();
    if (b.shape() != shape || !layout.fits(shape)) return false;
    for (std::int64_t i = 0; i < a.size(); ++i) {
      if (!differ(a.value().data()[i], b.value().data()[i])) continue;
      if (same(layout.row(i, shape), layout.position(i, shape))) return true;
    }
    return false;
  };
  for (std::size_t k = 0; k < std::min(one.size(), two.size()); ++k) {
    if (one[k].module != two[k].module || !wrong(one[k].output, two[k].output)) continue;
    if (!std::ranges::equal(one[k].inputs, two[k].inputs, std::not_fn(wrong))) continue;
    return described(*one[k].module);
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

// f(x), which must be the same twice.
template <class F, class X>
Array steady_value(const char* op, const F& f, const X& x) {
  const Array once = f(x).value(), again = f(x).value();
  bool same = once.shape() == again.shape();
  for (std::int64_t i = 0; same && i < once.size(); ++i) same = !differ(once.data()[i], again.data()[i]);
  if (!same) {
    fail<ValueError>(
        op, "f gives other values for the same input: does it draw random numbers? nn::Eval switches dropout off");
  }
  return once;
}

void check_output(const char* op, const Shape& x, const Shape& y, const Layout& layout) {
  if (!layout.fits(y) || y.numel() == 0) {
    fail<ShapeError>(op, "for an input ", x, " needs an output (", layout.B, ", ", layout.T, ", ...), got ", y);
  }
}

template <class F, class X>
CausalityReport causality(const F& f, const X& x, const CausalityOptions& options) {
  constexpr const char* op = "check_causality";
  const Layout layout = layout_of(op, x);
  if (layout.T < 2) fail<ValueError>(op, "needs at least 2 positions, got ", x.shape());
  std::optional<Eval> eval;
  if (options.model) eval.emplace(*options.model);
  CausalityReport report{.positions = layout.T};
  std::optional<CausalityLeak>& leak = report.leak;
  const auto found = [&leak](std::int64_t t, std::int64_t s) -> CausalityLeak* {
    if (!leak || std::pair(t, s) < std::pair(leak->t, leak->s)) leak = {.t = t, .s = s};
    return leak->t == t && leak->s == s ? &*leak : nullptr;
  };

  if (const Recorded run = recorded(f, x, options.model); run.y.requires_grad() && !run.xs.empty()) {
    check_output(op, x.shape(), run.y.shape(), layout);
    for (std::int64_t t = 0; t < layout.T - 1 && !leak; ++t) {
      const auto at_t = [&](std::int64_t i) { return layout.position(i, run.y.shape()) == t; };
      const PlaceGradients gradients(run, layout, at_t, options.seed);
      report.depends |= gradients.any();
      for (std::int64_t s = t + 1; s < layout.T && !leak; ++s) {
        double most = 0;
        for (std::int64_t b = 0; b < layout.B; ++b) most = std::max(most, gradients.at(b, s));
        if (most != 0) found(t, s)->gradient = most;
      }
    }
  }

  const NoGrad off;
  const Array y = steady_value(op, f, x);
  check_output(op, x.shape(), y.shape(), layout);
  const auto with_other = [&](std::int64_t s) {
    return changed(
        op, x, layout, [s](std::int64_t, std::int64_t t) { return t == s; }, options.seed);
  };
  for (std::int64_t s = 0; s < layout.T; ++s) {
    const Array other = f(with_other(s)).value();
    check_output(op, x.shape(), other.shape(), layout);
    std::vector<double> change(static_cast<std::size_t>(layout.T), 0);  // by position
    for (std::int64_t i = 0; i < std::min(y.size(), other.size()); ++i) {
      const double a = y.data()[i], b = other.data()[i];
      if (!differ(a, b)) continue;
      report.depends = true;
      double& most = change[static_cast<std::size_t>(layout.position(i, y.shape()))];
      most = std::isnan(a - b) ? std::numeric_limits<double>::infinity() : std::max(most, std::abs(a - b));
    }
    for (std::int64_t t = 0; t < s; ++t) {
      const double moved = change[static_cast<std::size_t>(t)];
      if (moved == 0) continue;
      if (CausalityLeak* first = found(t, s)) first->change = moved;
    }
  }
  if (leak && leak->change != 0) {
    const std::int64_t s = leak->s;
    leak->module =
        first_module(f, x, with_other(s), options.model, layout, [s](std::int64_t, std::int64_t t) { return t < s; });
  }
  return report;
}

template <class F, class X>
PaddingInvarianceReport padding_invariance(const F& run_with, const X& x, const Index& lengths,
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
  const Where padding = [&counts](std::int64_t b, std::int64_t t) { return !counts(b, t); };
  std::optional<Eval> eval;
  if (options.model) eval.emplace(*options.model);
  const auto f = [&](const X& input) { return run_with(input, lengths); };
  const auto output_counts = [&](std::int64_t i, const Shape& shape) {
    return options.output == PaddedOutput::everything || counts(layout.row(i, shape), layout.position(i, shape));
  };
  const auto check = [&](const Shape& shape) {
    if (options.output == PaddedOutput::positions) check_output(op, x.shape(), shape, layout);
  };
  PaddingInvarianceReport report;
  const auto leak = [&report]() -> PaddingLeak& {
    if (!report.leak) report.leak.emplace();
    return *report.leak;
  };

  if (const Recorded run = recorded(f, x, options.model); run.y.requires_grad() && !run.xs.empty()) {
    check(run.y.shape());
    const PlaceGradients gradients(
        run, layout, [&](std::int64_t i) { return output_counts(i, run.y.shape()); }, options.seed);
    for (std::int64_t b = 0; b < layout.B; ++b) {
      for (std::int64_t s = lengths.data()[b]; s < layout.T; ++s) {
        if (gradients.at(b, s) == 0) continue;
        if (leak().gradient == 0) leak().input = {b, s};
        leak().gradient = std::max(leak().gradient, gradients.at(b, s));
      }
    }
  }

  const NoGrad off;
  const Array y = steady_value(op, f, x);
  check(y.shape());
  // How far `other` is from `reference` where it counts, if further than allowed.
  const bool by_position = options.output == PaddedOutput::positions;
  const auto compare = [&](const Array& reference, const Array& other, double allowed) {
    const Shape& shape = reference.shape();
    if (other.shape() != shape) {
      fail<ShapeError>(op, "the output is ", other.shape(), " and was ", shape, " for other padding");
    }
    std::pair<Shape, double> most{{}, 0};
    for (std::int64_t i = 0; i < reference.size(); ++i) {
      const double a = reference.data()[i], b = other.data()[i];
      if (!differ(a, b) || std::abs(a - b) <= allowed) continue;
      Shape at = position_of(i, shape);
      if (by_position) at = {at[0], at[1]};
      if (by_position && !counts(at[0], at[1])) continue;
      if (most.second == 0) most.first = at;
      most.second =
          std::isnan(a - b) ? std::numeric_limits<double>::infinity() : std::max(most.second, std::abs(a - b));
    }
    return most;
  };
  report.depends = compare(y, f(changed(op, x, layout, counts, options.seed)).value(), 0).second != 0;
  const X other = changed(op, x, layout, padding, options.seed);
  if (const auto [at, change] = compare(y, f(other).value(), 0); change != 0) {
    leak().output = at;
    leak().change = change;
    leak().module = first_module(f, x, other, options.model, layout, counts);
  }
  if (!report.leak && longest < layout.T) {
    double largest = 0;
    for (const Real value : y) largest = std::max(largest, std::abs(static_cast<double>(value)));
    const Slices kept{_, slice(0, longest)};
    const Array narrow = run_with(X(xgrad::slice(x, kept)), lengths).value();
    const Array wide = by_position ? xgrad::slice(y, kept) : y;
    if (const auto [at, change] = compare(wide, narrow, options.tolerance * largest); change != 0) {
      leak() = {.output = at, .change = change, .columns = layout.T - longest};
    }
  }
  return report;
}

}  // namespace

CausalityReport detail::check_causality(const std::function<Tensor(const Index&)>& f, const Index& x,
                                        const CausalityOptions& options) {
  return causality(f, x, options);
}
CausalityReport detail::check_causality(const std::function<Tensor(const Tensor&)>& f, const Tensor& x,
                                        const CausalityOptions& options) {
  return causality(f, x, options);
}
PaddingInvarianceReport detail::check_padding_invariance(const std::function<Tensor(const Index&, const Index&)>& f,
                                                         const Index& x, const Index& lengths,
                                                         const PaddingInvarianceOptions& options) {
  return padding_invariance(f, x, lengths, options);
}
PaddingInvarianceReport detail::check_padding_invariance(const std::function<Tensor(const Tensor&, const Index&)>& f,
                                                         const Tensor& x, const Index& lengths,
                                                         const PaddingInvarianceOptions& options) {
  return padding_invariance(f, x, lengths, options);
}

std::string to_string(const CausalityReport& report) {
  std::string text = "check_causality: ";
  if (report.leak) {
    const CausalityLeak& leak = *report.leak;
    append(text, cat("output ", leak.t, " depends on input ", leak.s, ": "));
    if (leak.gradient != 0) append(text, cat("its gradient is ", rounded(leak.gradient)));
    if (leak.gradient != 0 && leak.change != 0) append(text, ", and ");
    if (leak.change != 0) append(text, cat("it moves by ", rounded(leak.change), " with it"));
    if (!leak.module.empty()) append(text, cat("; first in ", leak.module));
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
    const PaddingLeak& leak = *report.leak;
    if (leak.columns != 0) {
      append(text, cat("output ", leak.output, " moves by ", rounded(leak.change), " without the last ", leak.columns,
                       leak.columns == 1 ? " column" : " columns", ", which is padding"));
    } else {
      if (leak.change != 0)
        append(text, cat("output ", leak.output, " moves by ", rounded(leak.change), " with the padding"));
      if (leak.gradient != 0 && leak.change != 0) append(text, ", and ");
      if (leak.gradient != 0)
        append(text, cat("input ", leak.input, " is padding and has gradient ", rounded(leak.gradient)));
      if (!leak.module.empty()) append(text, cat("; first in ", leak.module));
    }
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
