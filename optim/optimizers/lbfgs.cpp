// The two loops of L-BFGS, and a line search that brackets a good step and closes in on it.
#include "lbfgs.h"

#include <algorithm>
#include <cmath>

#include "../../core/base/error.h"
#include "../../core/graph/observe.h"
#include "../../core/graph/record.h"
#include "../loss.h"
#include "../names.h"
#include "../options.h"
#include "kernels/update.h"

namespace xgrad::optim {
namespace {

double dot(const Array& a, const Array& b) { return dot_block(a.data(), b.data(), a.size()); }

double largest(const Array& a) {
  double most = 0;
  for (const Real value : a) most = std::max(most, std::abs(static_cast<double>(value)));
  return most;
}

std::string not_finite(const Array& a) {
  const bool is_finite = std::ranges::all_of(a, [](Real value) { return std::isfinite(value); });
  return is_finite ? "" : "holds a number that is not finite";
}

double sum_of_sizes(const Array& a) {
  double sum = 0;
  for (const Real value : a) sum += std::abs(static_cast<double>(value));
  return sum;
}

Array scaled(const Array& a, double factor) {
  Array result(a.shape());
  const Real by = static_cast<Real>(factor);
  std::ranges::transform(a, result.mutable_data(), [=](Real value) { return by * value; });
  return result;
}

// a <- a + factor b
void add_scaled(Array& a, double factor, const Array& b) {
  Real* const out = a.mutable_data();
  const Real by = static_cast<Real>(factor);
  for (std::int64_t i = 0; i < a.size(); ++i) out[i] += by * b.data()[i];
}

// A point on the way of a search: how far it is, the loss, the slope along the direction, and the gradient.
struct Trial {
  double length, loss, slope;
  Array gradient;
};

// Where the cubic through two points with their slopes is lowest, within the bounds; their middle if it is nowhere.
double lowest_of_cubic(const Trial& a, const Trial& b, double low, double high) {
  const double d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.length - b.length);
  const double square = d1 * d1 - a.slope * b.slope;
  if (!(square >= 0)) return (low + high) / 2;
  const double d2 = std::sqrt(square);
  const double minimum = a.length <= b.length
                             ? b.length - (b.length - a.length) * ((b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2))
                             : a.length - (a.length - b.length) * ((a.slope + d2 - d1) / (a.slope - b.slope + 2 * d2));
  // 0 / 0 is no minimum.
  return std::isnan(minimum) ? (low + high) / 2 : std::min(std::max(minimum, low), high);
}

}  // namespace

LBFGS::LBFGS(const Tensors& parameters, const Options& options) : options_(options) {
  detail::not_negative("lbfgs", "lr", options.lr);
  detail::at_least_one("lbfgs", "max_iter", options.max_iter);
  if (options.max_eval) detail::at_least_one("lbfgs", "max_eval", *options.max_eval);
  detail::not_negative("lbfgs", "tolerance_grad", options.tolerance_grad);
  detail::not_negative("lbfgs", "tolerance_change", options.tolerance_change);
  detail::at_least_one("lbfgs", "history_size", options.history_size);
  if (parameters.empty()) fail<ValueError>("lbfgs", "there are no parameters");
  for (const Tensor& parameter : parameters) {
    entries_.push_back({parameter, detail::name_of_new("lbfgs", parameter, entries_)});
    size_ += parameter.size();
  }
}

Tensors LBFGS::parameters() const {
  Tensors all;
  for (const Entry& entry : entries_) all.push_back(entry.parameter);
  return all;
}

void LBFGS::set_lr(double lr) { options_.lr = detail::not_negative("set_lr", "lr", lr); }

std::vector<Array> LBFGS::values() const {
  std::vector<Array> all;
  for (const Entry& entry : entries_) all.push_back(entry.parameter.value());
  return all;
}

void LBFGS::put_back(std::vector<Array>&& values) const {
  for (std::size_t i = 0; i < entries_.size(); ++i) entries_[i].parameter.assign(std::move(values[i]));
}

// Every parameter becomes from + length direction.
void LBFGS::move(const std::vector<Array>& from, double length, const Array& direction) const {
  const Real by = static_cast<Real>(length);
  const Real* d = direction.data();
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    Array value(from[i].shape());
    Real* out = value.mutable_data();
    for (const Real old : from[i]) *out++ = old + by * *d++;
    entries_[i].parameter.assign(std::move(value));
  }
}

LBFGS::Point LBFGS::evaluate(const std::function<Tensor()>& loss, LbfgsReport& report) const {
  const EnableGrad on;
  const Tensor now = loss();
  if (now.size() != 1) {
    fail<ShapeError>("lbfgs", "the loss has shape ", now.shape(), ", not one element: take its sum() or mean()");
  }
  const double value = now.item();
  if (!std::isfinite(value)) fail<NumericError>("lbfgs", "the loss is ", value);
  if (report.evaluations++ == 0) report.loss = value;
  const Real sign = options_.maximize ? -1 : 1;
  Point point{sign * value, Array(Shape{size_}, Real(0))};
  Real* out = point.gradient.mutable_data();
  const Tensors gradients = detail::gradients_of(now, parameters());
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const std::int64_t count = entries_[i].parameter.size();
    if (gradients[i].defined()) {
      for (std::int64_t j = 0; j < count; ++j) {
        out[j] = sign * gradients[i].value().data()[j];
        if (!std::isfinite(out[j])) fail<NumericError>("lbfgs", "non-finite gradient in '", entries_[i].name, "'");
      }
    }
    out += count;
  }
  return point;
}

// Nocedal's two loops: -H g. Remembers the last change first.
Array LBFGS::next_direction(State& state, const Array& gradient) const {
  if (state.iterations == 1) return scaled(gradient, -1);
  Array y = gradient;
  add_scaled(y, -1, state.gradient);
  Array s = scaled(state.direction, state.length);
  if (const double product = dot(y, s); product > 1e-10) {
    if (static_cast<std::int64_t>(state.changes.size()) == options_.history_size) {
      state.gradient_changes.erase(state.gradient_changes.begin());
      state.changes.erase(state.changes.begin());
      state.inverse_products.erase(state.inverse_products.begin());
    }
    state.scale = product / dot(y, y);
    state.inverse_products.push_back(1 / product);
    state.gradient_changes.push_back(std::move(y));
    state.changes.push_back(std::move(s));
  }
  const std::size_t count = state.changes.size();
  std::vector<double> along(count);
  Array direction = scaled(gradient, -1);
  for (std::size_t i = count; i-- > 0;) {
    along[i] = dot(state.changes[i], direction) * state.inverse_products[i];
    add_scaled(direction, -along[i], state.gradient_changes[i]);
  }
  direction = scaled(direction, state.scale);
  for (std::size_t i = 0; i < count; ++i) {
    const double back = dot(state.gradient_changes[i], direction) * state.inverse_products[i];
    add_scaled(direction, along[i] - back, state.changes[i]);
  }
  return direction;
}

template <class Evaluate>
LBFGS::Found LBFGS::search(const Evaluate& at, const Point& start, double length, const Array& direction, double slope,
                           std::int64_t most) const {
  constexpr double c1 = 1e-4, c2 = 0.9;
  const double longest = largest(direction);
  const auto trial = [&](double t) {
    Point point = at(t);
    const double along = dot(point.gradient, direction);
    return Trial{t, point.loss, along, std::move(point.gradient)};
  };
  const auto too_high = [&](const Trial& there) { return there.loss > start.loss + c1 * there.length * slope; };
  const auto flat = [&](const Trial& there) { return std::abs(there.slope) <= -c2 * slope; };

  const Trial origin{0, start.loss, slope, start.gradient};
  Trial before = origin, now = trial(length);
  std::int64_t rounds = 0;
  bool done = false;
  std::vector<Trial> bracket;
  for (; rounds < most; ++rounds) {
    if (too_high(now) || (rounds > 1 && now.loss >= before.loss) || (!flat(now) && now.slope >= 0)) {
      bracket = {before, now};
      break;
    }
    if (flat(now)) {
      bracket = {now};
      done = true;
      break;
    }
    const double next = lowest_of_cubic(before, now, now.length + 0.01 * (now.length - before.length), now.length * 10);
    before = std::move(now);
    now = trial(next);
  }
  if (rounds == most) bracket = {origin, now};

  const auto low = [&] { return bracket.front().loss <= bracket.back().loss ? std::size_t{0} : bracket.size() - 1; };
  std::size_t lowest = low();
  bool stuck = false;
  for (; !done && rounds < most; ++rounds) {
    const double left = std::min(bracket[0].length, bracket[1].length);
    const double right = std::max(bracket[0].length, bracket[1].length);
    if ((right - left) * longest < options_.tolerance_change) break;
    double next = lowest_of_cubic(bracket[0], bracket[1], left, right);
    // Two trials close to an end are no progress: the next is a tenth of the bracket inwards.
    const double margin = 0.1 * (right - left);
    if (std::min(right - next, next - left) < margin) {
      if (stuck || next >= right || next <= left) {
        next = std::abs(next - right) < std::abs(next - left) ? right - margin : left + margin;
        stuck = false;
      } else {
        stuck = true;
      }
    } else {
      stuck = false;
    }
    now = trial(next);
    const std::size_t other = 1 - lowest;
    if (too_high(now) || now.loss >= bracket[lowest].loss) {
      bracket[other] = std::move(now);
      lowest = low();
    } else {
      if (flat(now)) {
        done = true;
      } else if (now.slope * (bracket[other].length - bracket[lowest].length) >= 0) {
        bracket[other] = bracket[lowest];
      }
      bracket[lowest] = std::move(now);
    }
  }
  Trial& best = bracket[lowest];
  return {{best.loss, std::move(best.gradient)}, best.length};
}

LbfgsReport LBFGS::iterate(State& state, const std::function<Tensor()>& loss) const {
  LbfgsReport report;
  const std::int64_t most = options_.max_eval.value_or(options_.max_iter * 5 / 4);
  Point here = evaluate(loss, report);
  ++state.evaluations;
  if (largest(here.gradient) <= options_.tolerance_grad) return report;
  while (report.iterations < options_.max_iter) {
    ++report.iterations;
    ++state.iterations;
    state.direction = next_direction(state, here.gradient);
    state.gradient = here.gradient;
    const double loss_before = here.loss;
    state.length = options_.lr * (state.iterations == 1 ? std::min(1.0, 1 / sum_of_sizes(here.gradient)) : 1);
    const double slope = dot(here.gradient, state.direction);
    if (slope > -options_.tolerance_change) break;

    const std::vector<Array> from = values();
    const std::int64_t evaluations_before = report.evaluations;
    const auto at = [&](double length) {
      move(from, length, state.direction);
      return evaluate(loss, report);
    };
    if (options_.line_search_fn == LineSearch::strong_wolfe) {
      Found found = search(at, here, state.length, state.direction, slope, most - report.evaluations);
      here = std::move(found.point);
      state.length = found.length;
      move(from, state.length, state.direction);
    } else if (report.iterations < options_.max_iter) {
      here = at(state.length);
    } else {
      move(from, state.length, state.direction);
    }
    state.evaluations += report.evaluations - evaluations_before;
    if (report.evaluations >= most || largest(here.gradient) <= options_.tolerance_grad) break;
    if (largest(state.direction) * std::abs(state.length) <= options_.tolerance_change) break;
    if (std::abs(here.loss - loss_before) < options_.tolerance_change) break;
  }
  return report;
}

LbfgsReport LBFGS::step(const std::function<Tensor()>& loss) {
  xgrad::detail::refuse_empty("lbfgs", loss);
  std::vector<Array> before = values();
  LbfgsReport report;
  try {
    State state = state_;
    report = iterate(state, loss);
    state_ = std::move(state);
  } catch (...) {
    put_back(std::move(before));
    throw;
  }
  if (Observer::watching()) [[unlikely]]
    xgrad::detail::Notify::event("lbfgs");
  return report;
}

std::vector<NamedOption> LBFGS::named_options() const {
  return {{"max_iter", static_cast<double>(options_.max_iter)},
          {"max_eval", static_cast<double>(options_.max_eval.value_or(options_.max_iter * 5 / 4))},
          {"tolerance_grad", options_.tolerance_grad},
          {"tolerance_change", options_.tolerance_change},
          {"history_size", static_cast<double>(options_.history_size)},
          {"line_search_fn", static_cast<double>(options_.line_search_fn)},
          {"maximize", double(options_.maximize)}};
}

StateFile LBFGS::state_dict() const {
  StateFile state;
  state.metadata["optimizer"] = "lbfgs";
  state.metadata["lr"] = str(options_.lr);
  state.metadata["t"] = str(state_.length);
  state.metadata["H_diag"] = str(state_.scale);
  detail::add_named_options(state, named_options());
  state.arrays["n_iter"] = Index({}, state_.iterations);
  state.arrays["func_evals"] = Index({}, state_.evaluations);
  if (state_.iterations == 0) return state;
  state.arrays["d"] = state_.direction;
  state.arrays["prev_flat_grad"] = state_.gradient;
  for (std::size_t i = 0; i < state_.changes.size(); ++i) {
    state.arrays[str("old_dirs.", i)] = state_.gradient_changes[i];
    state.arrays[str("old_stps.", i)] = state_.changes[i];
  }
  return state;
}

void LBFGS::load_state_dict(const StateFile& state) {
  if (const std::string& kind = state.text("optimizer"); kind != "lbfgs") {
    detail::refuse(state, "the state of ", escaped(kind), " does not fit \"lbfgs\"");
  }
  const auto finite = [&](const std::string& key) {
    const double value = detail::number_in(state, key, "finite number");
    if (!std::isfinite(value)) detail::refuse(state, escaped(key), " is ", value);
    return value;
  };
  const double lr = finite("lr");
  if (lr < 0) detail::refuse(state, lr, " is no learning rate");
  State next;
  next.iterations = detail::count_in(state, "n_iter", "lbfgs cannot have made");
  next.evaluations = detail::count_in(state, "func_evals", "lbfgs cannot have made");
  next.length = finite("t");
  next.scale = finite("H_diag");
  StateMatch match(state.arrays);
  for (const char* counter : {"n_iter", "func_evals"}) (void)match.find(counter);
  const auto take = [&](const std::string& name) {
    const Array* values = match.take<Array>(name, Shape{size_}, not_finite);
    return values ? *values : Array(Shape{size_}, Real(1));
  };
  if (next.iterations > 0) {
    next.direction = take("d");
    next.gradient = take("prev_flat_grad");
  }
  for (std::size_t i = 0; state.arrays.contains(str("old_dirs.", i)); ++i) {
    next.gradient_changes.push_back(take(str("old_dirs.", i)));
    next.changes.push_back(take(str("old_stps.", i)));
    const double product = dot(next.gradient_changes[i], next.changes[i]);
    if (!(product > 0)) match.difference.add_mismatch(str("old_dirs.", i), "is not along the change of the parameters");
    next.inverse_products.push_back(1 / product);
  }
  match.finish().refuse("load_state_dict", state.source);
  if (static_cast<std::int64_t>(next.changes.size()) > options_.history_size) {
    detail::refuse(state, next.changes.size(), " changes for a history of ", options_.history_size);
  }
  detail::check_named_options(state, named_options());
  options_.lr = lr;
  state_ = std::move(next);
}

}  // namespace xgrad::optim
