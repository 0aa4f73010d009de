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
    for (const Tensor& late : model.parameters->declared_after(model.declared)) {
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
  for (const Array& moment : entry.state.moments) {
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
  for (Array& moment : entry.state.moments) moment.mutable_data();
  std::vector<Array> fresh;
  if (!entry.state.moments.empty()) return fresh;
  for (const Moment& moment : moments_of(entry)) {
    fresh.emplace_back(entry.parameter.shape(), moment.initial);
  }
  return fresh;
}

void Optimizer::apply(Entry& entry, const Array& gradient) {
  const double lr = rates_[static_cast<std::size_t>(entry.group)].now;
  update(entry.parameter.mutable_value(), gradient, entry.state, entry.group, lr);
  entry.state.direction.reset();
  ++entry.state.steps;
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
    prepare(gradients[i].value(), entries_[i].state, entries_[i].group);
  }
  has_stepped_ = true;
  StepReport report;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (gradients[i].defined()) {
      if (!fresh[i].empty()) entries_[i].state.moments = std::move(fresh[i]);
      apply(entries_[i], gradients[i].value());
      ++report.updated;
    } else {
      ++report.skipped;
    }
  }
  if (Observer::watching()) [[unlikely]]
    xgrad::detail::Notify::event(kind_);
  return report;
}

StepReport Optimizer::step() {
  Tensors gradients;
  gradients.reserve(entries_.size());
  for (const auto& [parameter, name, group, state] : entries_) {
    const bool moves = parameter.requires_grad() && parameter.has_grad();
    gradients.push_back(moves ? parameter.grad() : Tensor());
  }
  if (std::ranges::none_of(gradients, &Tensor::defined)) {
    if (!has_stepped_) check_models();  // a reason that says more
    fail<GraphError>(kind_,
                     "no parameter has a gradient: call loss.backward() before step(), or step(grad(loss, "
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
    state.arrays[entry.name + ".step"] = Index({}, entry.state.steps);
    for (std::size_t m = 0; m < entry.state.moments.size(); ++m) {
      state.arrays[str(entry.name, ".", moments_of(entry)[m].name)] = entry.state.moments[m];
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

  StateMatch match(state.arrays);
  std::vector<State> loaded;
  for (const Entry& entry : entries_) {
    State& next = loaded.emplace_back();
    const std::string counter = entry.name + ".step";
    const Index* steps = match.take<Index>(counter, {}, impossible_steps);
    if (steps) next.steps = steps->item();
    if (steps ? next.steps == 0 : !state.arrays.contains(counter)) continue;  // a wrong count leaves moments, too
    for (const Moment& moment : moments_of(entry)) {
      const auto fault = [&](const Array& values) { return impossible_moment(values, moment.negative); };
      const Array* values = match.take<Array>(str(entry.name, ".", moment.name), entry.parameter.shape(), fault);
      if (values) next.moments.push_back(*values);
    }
  }
  match.finish().refuse("load_state_dict", state.source);

  rates_ = std::move(rates);
  for (std::size_t i = 0; i < entries_.size(); ++i) entries_[i].state = std::move(loaded[i]);
}

}  // namespace xgrad::optim
