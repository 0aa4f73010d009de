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
  const double place = a.length <= b.length
                           ? b.length - (b.length - a.length) * ((b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2))
                           : a.length - (a.length - b.length) * ((a.slope + d2 - d1) / (a.slope - b.slope + 2 * d2));
  // 0 / 0 is no place.
  return std::isnan(place) ? (low + high) / 2 : std::min(std::max(place, low), high);
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
Array LBFGS::next_direction(Memory& memory, const Array& gradient) const {
  if (memory.iterations == 1) return scaled(gradient, -1);
  Array y = gradient;
  add_scaled(y, -1, memory.gradient);
  Array s = scaled(memory.direction, memory.length);
  if (const double product = dot(y, s); product > 1e-10) {
    if (static_cast<std::int64_t>(memory.changes.size()) == options_.history_size) {
      memory.gradient_changes.erase(memory.gradient_changes.begin());
      memory.changes.erase(memory.changes.begin());
      memory.inverse_products.erase(memory.inverse_products.begin());
    }
    memory.scale = product / dot(y, y);
    memory.inverse_products.push_back(1 / product);
    memory.gradient_changes.push_back(std::move(y));
    memory.changes.push_back(std::move(s));
  }
  const std::size_t count = memory.changes.size();
  std::vector<double> along(count);
  Array direction = scaled(gradient, -1);
  for (std::size_t i = count; i-- > 0;) {
    along[i] = dot(memory.changes[i], direction) * memory.inverse_products[i];
    add_scaled(direction, -along[i], memory.gradient_changes[i]);
  }
  direction = scaled(direction, memory.scale);
  for (std::size_t i = 0; i < count; ++i) {
    const double back = dot(memory.gradient_changes[i], direction) * memory.inverse_products[i];
    add_scaled(direction, along[i] - back, memory.changes[i]);
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
  std::int64_t evaluations = 1, rounds = 0;
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
    ++evaluations;
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
    ++evaluations;
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
  return {{best.loss, std::move(best.gradient)}, best.length, evaluations};
}

LbfgsReport LBFGS::iterate(Memory& memory, const std::function<Tensor()>& loss) const {
  LbfgsReport report;
  const std::int64_t most = options_.max_eval.value_or(options_.max_iter * 5 / 4);
  Point here = evaluate(loss, report);
  ++memory.evaluations;
  if (largest(here.gradient) <= options_.tolerance_grad) return report;
  while (report.iterations < options_.max_iter) {
    ++report.iterations;
    ++memory.iterations;
    memory.direction = next_direction(memory, here.gradient);
    memory.gradient = here.gradient;
    const double loss_before = here.loss;
    memory.length = options_.lr * (memory.iterations == 1 ? std::min(1.0, 1 / sum_of_sizes(here.gradient)) : 1);
    const double slope = dot(here.gradient, memory.direction);
    if (slope > -options_.tolerance_change) break;

    const std::vector<Array> from = values();
    const std::int64_t evaluations_before = report.evaluations;
    const auto at = [&](double length) {
      move(from, length, memory.direction);
      return evaluate(loss, report);
    };
    if (options_.line_search_fn == LineSearch::strong_wolfe) {
      Found found = search(at, here, memory.length, memory.direction, slope, most - report.evaluations);
      here = std::move(found.point);
      memory.length = found.length;
      move(from, memory.length, memory.direction);
    } else if (report.iterations < options_.max_iter) {
      here = at(memory.length);
    } else {
      move(from, memory.length, memory.direction);
    }
    memory.evaluations += report.evaluations - evaluations_before;
    if (report.evaluations >= most || largest(here.gradient) <= options_.tolerance_grad) break;
    if (largest(memory.direction) * std::abs(memory.length) <= options_.tolerance_change) break;
    if (std::abs(here.loss - loss_before) < options_.tolerance_change) break;
  }
  return report;
}

LbfgsReport LBFGS::step(const std::function<Tensor()>& loss) {
  xgrad::detail::refuse_empty("lbfgs", loss);
  std::vector<Array> before = values();
  LbfgsReport report;
  try {
    Memory memory = memory_;
    report = iterate(memory, loss);
    memory_ = std::move(memory);
  } catch (...) {
    put_back(std::move(before));
    throw;
  }
  if (Observer::watching()) [[unlikely]]
    xgrad::detail::Shown::event("lbfgs");
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
  state.metadata["t"] = str(memory_.length);
  state.metadata["H_diag"] = str(memory_.scale);
  detail::add_named_options(state, named_options());
  state.arrays["n_iter"] = Index({}, memory_.iterations);
  state.arrays["func_evals"] = Index({}, memory_.evaluations);
  if (memory_.iterations == 0) return state;
  state.arrays["d"] = memory_.direction;
  state.arrays["prev_flat_grad"] = memory_.gradient;
  for (std::size_t i = 0; i < memory_.changes.size(); ++i) {
    state.arrays[str("old_dirs.", i)] = memory_.gradient_changes[i];
    state.arrays[str("old_stps.", i)] = memory_.changes[i];
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
  const auto vector = [&](const std::string& name) {
    const Array& values = state.get<Array>(name);
    if (values.shape() != Shape{size_})
      detail::refuse(state, escaped(name), " ", values.shape(), " for ", Shape{size_});
    if (!std::ranges::all_of(values, [](Real value) { return std::isfinite(value); })) {
      detail::refuse(state, escaped(name), " holds a number that is not finite");
    }
    return values;
  };
  const double lr = finite("lr");
  if (lr < 0) detail::refuse(state, lr, " is no learning rate");
  Memory memory;
  memory.iterations = detail::count_in(state, "n_iter", "lbfgs cannot have made");
  memory.evaluations = detail::count_in(state, "func_evals", "lbfgs cannot have made");
  memory.length = finite("t");
  memory.scale = finite("H_diag");
  std::size_t known = 2;
  if (memory.iterations > 0) {
    memory.direction = vector("d");
    memory.gradient = vector("prev_flat_grad");
    known += 2;
  }
  for (std::size_t i = 0; state.arrays.contains(str("old_dirs.", i)); ++i) {
    memory.gradient_changes.push_back(vector(str("old_dirs.", i)));
    memory.changes.push_back(vector(str("old_stps.", i)));
    const double product = dot(memory.gradient_changes[i], memory.changes[i]);
    if (!(product > 0)) detail::refuse(state, "change ", i, " of the gradient is not along that of the parameters");
    memory.inverse_products.push_back(1 / product);
    known += 2;
  }
  if (state.arrays.size() != known) detail::refuse(state, "the state has arrays that no step leaves behind");
  if (static_cast<std::int64_t>(memory.changes.size()) > options_.history_size) {
    detail::refuse(state, memory.changes.size(), " changes for a history of ", options_.history_size);
  }
  detail::check_named_options(state, named_options());
  options_.lr = lr;
  memory_ = std::move(memory);
}

}  // namespace xgrad::optim
