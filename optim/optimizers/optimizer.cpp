// The base of all optimizers: groups, checks before a step, and state.
#include "optimizer.h"

#include <algorithm>
#include <cmath>

#include "../../core/base/text.h"
#include "../../core/graph/observe.h"
#include "../names.h"
#include "../options.h"

namespace xgrad::optim {
namespace {

std::string impossible_steps(const Index& steps) {
  return detail::possible_steps(steps.item()) ? "" : str("is ", steps.item(), ", which is no number of steps");
}

std::string impossible_moment(const Array& values, bool may_be_negative) {
  const Real* bad = std::ranges::find_if_not(
      values, [=](Real value) { return std::isfinite(value) && (may_be_negative || value >= 0); });
  if (bad == values.end()) return {};
  return str("has ", *bad, " as element ", bad - values.begin());
}

std::string rate_key(std::size_t group) { return str("lr.", group); }
std::string initial_rate_key(std::size_t group) { return str("initial_lr.", group); }

}  // namespace

void Optimizer::add_group(const Tensors& parameters, double lr, const Moments& moments, const NamedOptions& named) {
  detail::not_negative(kind_, "lr", lr);
  for (const auto& [name, value, range] : named) {
    if (range == NamedOption::not_negative) detail::not_negative(kind_, name, value);
    if (range == NamedOption::below_one) detail::below_one(kind_, name, value);
  }
  for (const Tensor& parameter : parameters) {
    entries_.push_back({parameter, detail::name_of_new(kind_, parameter, entries_), groups(), {}});
    const auto model = xgrad::detail::ModelParameters::of(xgrad::detail::Engine::node(parameter).get());
    if (model && std::ranges::find(models_, model, &Model::parameters) == models_.end()) {
      models_.push_back({model, model->declared()});
    }
  }
  rates_.push_back({.initial = lr, .now = lr});
  moments_.push_back(moments);
  named_options_.push_back(named);
}

Tensors Optimizer::parameters() const {
  Tensors all;
  for (const Entry& entry : entries_) all.push_back(entry.parameter);
  return all;
}

void Optimizer::zero_grad() const {
  for (const Entry& entry : entries_) entry.parameter.zero_grad();
}

std::size_t Optimizer::checked_group(std::string_view op, int group) const {
  if (group < 0 || group >= groups()) fail<ValueError>(op, "group ", group, " of ", groups());
  return static_cast<std::size_t>(group);
}

double Optimizer::lr(int group) const { return rates_[checked_group("lr", group)].now; }

double Optimizer::initial_lr(int group) const { return rates_[checked_group("initial_lr", group)].initial; }

void Optimizer::set_lr(int group, double lr) {
  detail::not_negative("set_lr", "lr", lr);
  rates_[checked_group("set_lr", group)] = {.initial = lr, .now = lr};
}

void Optimizer::set_lr(double lr) {
  for (int group = 0; group < groups(); ++group) set_lr(group, lr);
}

void Optimizer::check_models() const {
  std::string names;
  for (const Model& model : models_) {
    for (const Tensor& late : model.parameters->since(model.declared)) {
      if (late.requires_grad()) names += str(names.empty() ? "" : ", ", late.name());
    }
  }
  if (names.empty()) return;
  fail<ValueError>(kind_, "the model has got parameters since this optimizer was made: ", names,
                   "; make the optimizer when all layers are declared");
}

void Optimizer::check_gradient(const Entry& entry, const Array& gradient) const {
  if (gradient.shape() != entry.parameter.shape()) {
    fail<ShapeError>(kind_, "gradient of shape ", gradient.shape(), " for parameter '", entry.name, "' of shape ",
                     entry.parameter.shape());
  }
  for (const Array& moment : entry.memory.moments) {
    if (moment.shape() != entry.parameter.shape()) {
      fail<ShapeError>(kind_, "parameter '", entry.name, "' had shape ", moment.shape(), " and now has ",
                       entry.parameter.shape());
    }
  }
}

// Makes sure that a step need not ask for memory: nobody shares the arrays that it writes to. Returns the moments, for
// a parameter that has none yet: they become its own when all parameters are prepared.
std::vector<Array> Optimizer::prepared(Entry& entry) const {
  xgrad::detail::Engine::own_value(entry.parameter).mutable_data();
  for (Array& moment : entry.memory.moments) moment.mutable_data();
  std::vector<Array> fresh;
  if (!entry.memory.moments.empty()) return fresh;
  for (const Moment& moment : moments_of(entry)) {
    fresh.emplace_back(entry.parameter.shape(), moment.initial);
  }
  return fresh;
}

void Optimizer::apply(Entry& entry, const Array& gradient) {
  const double lr = rates_[static_cast<std::size_t>(entry.group)].now;
  update(entry.parameter.mutable_value(), gradient, entry.memory, entry.group, lr);
  entry.memory.direction.reset();
  ++entry.memory.steps;
}

StepReport Optimizer::step(const Tensors& gradients) {
  if (gradients.size() != entries_.size()) {
    fail<ValueError>(kind_, gradients.size(), " gradients for ", entries_.size(), " parameters");
  }
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (gradients[i].defined()) check_gradient(entries_[i], gradients[i].value());
  }
  if (!has_stepped_) check_models();
  std::vector<std::vector<Array>> fresh(entries_.size());
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (!gradients[i].defined()) continue;
    fresh[i] = prepared(entries_[i]);
    prepare(gradients[i].value(), entries_[i].memory, entries_[i].group);
  }
  has_stepped_ = true;
  StepReport report;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (gradients[i].defined()) {
      if (!fresh[i].empty()) entries_[i].memory.moments = std::move(fresh[i]);
      apply(entries_[i], gradients[i].value());
      ++report.updated;
    } else {
      ++report.skipped;
    }
  }
  if (Observer::watching()) [[unlikely]]
    xgrad::detail::Shown::event(kind_);
  return report;
}

StepReport Optimizer::step() {
  Tensors gradients;
  gradients.reserve(entries_.size());
  for (const auto& [parameter, name, group, memory] : entries_) {
    const bool moves = parameter.requires_grad() && parameter.has_grad();
    gradients.push_back(moves ? parameter.grad() : Tensor());
  }
  if (std::ranges::none_of(gradients, &Tensor::defined)) {
    if (!has_stepped_) check_models();  // a reason that says more
    fail<GraphError>(kind_, "no parameter has a gradient: call loss.backward() before step(), or step(grad(loss, "
                     "parameters))");
  }
  return step(gradients);
}

StateFile Optimizer::state_dict() const {
  StateFile state;
  state.metadata["optimizer"] = kind_;
  for (std::size_t group = 0; group < rates_.size(); ++group) {
    state.metadata[rate_key(group)] = str(rates_[group].now);
    state.metadata[initial_rate_key(group)] = str(rates_[group].initial);
    detail::add_named_options(state, named_options_[group], str(".", group));
  }
  for (const Entry& entry : entries_) {
    state.arrays[entry.name + ".step"] = Index({}, entry.memory.steps);
    for (std::size_t m = 0; m < entry.memory.moments.size(); ++m) {
      state.arrays[str(entry.name, ".", moments_of(entry)[m].name)] = entry.memory.moments[m];
    }
  }
  return state;
}

void Optimizer::load_state_dict(const StateFile& state) {
  if (const std::string& kind = state.text("optimizer"); kind != kind_) {
    detail::refuse(state, "the state of ", escaped(kind), " does not fit ", escaped(kind_));
  }
  std::vector<Rate> rates = rates_;
  for (std::size_t group = 0; group < rates.size(); ++group) {
    rates[group].now = detail::rate_in(state, rate_key(group));
    const std::string initial = initial_rate_key(group);  // which older states do not have
    if (state.metadata.contains(initial)) rates[group].initial = detail::rate_in(state, initial);
  }
  if (state.metadata.contains(rate_key(rates_.size()))) {
    detail::refuse(state, "the state has more than ", rates_.size(), " groups of parameters");
  }
  for (std::size_t group = 0; group < rates_.size(); ++group) {
    detail::check_named_options(state, named_options_[group], str(".", group), str(" in group ", group));
  }

  StateDifference difference;
  std::vector<Memory> memories;
  NamedArrays remaining = state.arrays;
  // Removes the array of this name from the remaining ones, or notes what is wrong with it. `flaw` describes an
  // impossible number in it, if there is one.
  const auto take = [&]<class A>(const std::string& name, const Shape& shape, const auto& flaw, A& into) {
    const auto found = remaining.find(name);
    if (found == remaining.end()) {
      difference.missing.push_back(name);
      return;
    }
    const A* value = std::get_if<A>(&found->second);
    if (!value) {
      difference.add_mismatch(name, "holds another kind of numbers");
    } else if (value->shape() != shape) {
      difference.add_mismatch(name, value->shape(), shape);
    } else if (const std::string what = flaw(*value); !what.empty()) {
      difference.add_mismatch(name, what);
    } else {
      into = *value;
    }
    remaining.erase(found);
  };
  for (const Entry& entry : entries_) {
    Memory& memory = memories.emplace_back();
    const std::string counter = entry.name + ".step";
    Index steps({}, remaining.contains(counter) ? 1 : 0);  // with a count that is wrong, moments are still expected
    take(counter, {}, impossible_steps, steps);
    memory.steps = steps.item();
    if (memory.steps == 0) continue;
    for (const Moment& moment : moments_of(entry)) {
      const auto flaw = [&](const Array& values) { return impossible_moment(values, moment.negative); };
      take(str(entry.name, ".", moment.name), entry.parameter.shape(), flaw, memory.moments.emplace_back());
    }
  }
  for (const auto& [name, value] : remaining) difference.unexpected.push_back(name);
  difference.refuse("load_state_dict", state.source);

  rates_ = std::move(rates);
  for (std::size_t i = 0; i < entries_.size(); ++i) entries_[i].memory = std::move(memories[i]);
}

}  // namespace xgrad::optim
