// Modules: registration, names, state, modes, hooks and printing.
#include "module_state.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <ostream>

#include "../core/base/text.h"
#include "../ops/creation/create.h"
#include "../ops/elementwise/compare.h"
#include "layer.h"

namespace xgrad::nn {

using detail::ModuleState;
using Entry = ModuleState::Entry;

namespace {

bool holds_integers(const Array& values) {
  return std::ranges::all_of(values,
                             [](Real value) { return value == std::trunc(value) && std::abs(value) <= Real(0x1p53); });
}

bool is_number(std::string_view name) { return name.find_first_not_of("0123456789") == name.npos; }

}  // namespace

Module::Module(At here) : state_(std::make_unique<ModuleState>(*this, here.parent)) {
  if (!here.parent) {
    state_->model = std::make_shared<xgrad::detail::ModelParameters>();
    return;
  }
  ModuleState& parent = ModuleState::of(*here.parent);
  parent.take_place(here.name);
  parent.check_new_name(here.name);
  state_->place = intern(here.path());
  state_->training = parent.training;
  state_->model = parent.model;
  state_->evals = parent.evals;
  for (Eval* eval : state_->evals) eval->parts_.reserve(eval->parts_.size() + 1);
  parent.children.emplace_back(std::move(here.name), this);
  for (Eval* eval : state_->evals) eval->parts_.push_back({this, eval->find(*here.parent)->was_training});
}

Module::~Module() {
  if (state_->parent) {
    std::erase_if(ModuleState::of(*state_->parent).children,
                  [this](const auto& child) { return child.second == this; });
  }
  for (const auto& [name, child] : state_->children) ModuleState::of(*child).parent = nullptr;
  for (const Entry& entry : state_->entries) {
    if (entry.kind == Entry::owned) state_->model->remove(entry.tensor);
  }
  for (Eval* eval : state_->evals) eval->parts_.erase(eval->find(*this));
}

const std::string& Module::path() const { return state_->place->path; }

const Place* Module::place() const { return state_->place; }

const std::vector<std::pair<std::string, Module*>>& Module::children() const { return state_->children; }

std::string Module::class_name() const { return Class::of(*this).name(); }

void detail::refuse_derived(const Module& module, Class layer) {
  const Scope scope(ModuleState::of(module).place);
  const std::string derived = Class::of(module).name(), base = layer.name();
  fail<ValueError>(derived, derived, " is derived from ", base, ", and a call would run ", base,
                   "::forward: give it an operator() of its own, or derive it from nn::Layer<", derived, "> with a ",
                   base, " as a member");
}

std::string Module::description() const {
  const std::string more = extra_repr();
  return class_name() + (more.empty() ? "" : " ") + more;
}

// In a constructor, `this` is still of the base class; its description there must not be cached. A module around this
// one may be under construction, too, for parts of it may run there: it has its class until it, or one around it, has
// run and it is surely complete, and its settings from then on.
const Place* ModuleState::described_place() {
  const Place* cached = cached_place();
  const Place* outer = cached && parent ? of(*parent).cached_place() : nullptr;
  if (cached && (!parent || cached->around == outer || (!outer && cached->around))) return cached;
  return describe(place_around());
}

const Place* ModuleState::cached_place() const {
  const bool same_class = described_as_.load(std::memory_order_acquire) == Class::of(self);
  return same_class ? described_.load(std::memory_order_relaxed) : nullptr;
}

const Place* ModuleState::describe(const Place* around) {
  const Place* described = intern(place->path, self.description(), {}, around);
  described_.store(described, std::memory_order_relaxed);
  described_as_.store(Class::of(self), std::memory_order_release);
  return described;
}

const Place* ModuleState::place_around() const {
  if (!parent) return nullptr;
  ModuleState& outer = of(*parent);
  if (const Place* cached = outer.cached_place()) return cached;
  const Place* further = outer.place_around();
  const bool complete = outer.parent && of(*outer.parent).cached_place();
  return complete ? outer.describe(further) : intern(parent->path(), parent->class_name(), {}, further);
}

bool Module::is_within(const Module& ancestor) const {
  const Module* at = this;
  while (at && at != &ancestor) at = at->state_->parent;
  return at != nullptr;
}

// A size that is nonsense is often that of a member which has no value yet.
const char* Module::declared_later() const { return state_->parent ? "; is a size declared after this layer?" : ""; }

std::string ModuleState::full_name(std::string_view name) const {
  return place->path.empty() ? std::string(name) : str(place->path, ".", name);
}

std::string Module::full_name(std::string_view name) const { return state_->full_name(name); }

void ModuleState::check_new_name(std::string_view name) const {
  if (name.empty() || name.find('.') != name.npos) {
    fail<ValueError>("module", "the name '", full_name(name), "' is empty or holds a dot");
  }
  const auto is_entry = [name](const Entry& entry) { return entry.name == name; };
  const auto is_child = [name](const auto& child) { return child.first == name; };
  if (std::ranges::any_of(entries, is_entry) || std::ranges::any_of(children, is_child)) {
    fail<ValueError>("module", "duplicate name '", full_name(name), "': each member needs a name of its own");
  }
}

At Module::at(std::string_view name) {
  At place{this, std::string(name)};
  state_->places.emplace_back(name);
  return place;
}

std::string At::path() const { return parent ? ModuleState::of(*parent).full_name(name) : std::string(); }

void At::decline() const {
  if (parent) ModuleState::of(*parent).take_place(name);
}

void ModuleState::take_place(const std::string& name) {
  if (const auto taken = std::ranges::find(places, name); taken != places.end()) places.erase(taken);
}

void ModuleState::check_places() const {
  if (places.empty()) return;
  fail<ValueError>("module", "no module took the place '", full_name(places.front()),
                   "': a constructor with an At hands it on, `: Module(here)`");
}

Tensor Module::param(std::string_view name, const Shape& shape, const Init& init, Decay decay) {
  const Scope scope(place());
  state_->check_new_name(name);
  if (!init) fail<ValueError>(class_name(), "the init of ", name, " is empty");
  Tensor parameter;
  try {
    Array value = init(possible(name, shape));
    if (value.shape() != shape) {
      fail<ShapeError>(class_name(), "the init of ", name, " gives ", value.shape(), ", not ", shape);
    }
    parameter = xgrad::variable(std::move(value), full_name(name));
    xgrad::detail::use_huge_pages(parameter.value());
  } catch (const std::bad_alloc&) {
    refuse_size(name, shape);
  } catch (const LimitError&) {  // an array that there is no memory for: the layer knows more about it
    refuse_size(name, shape);
  }
  state_->entries.push_back({std::string(name), parameter, Entry::owned, decay});
  xgrad::detail::ModelParameters::add(state_->model, parameter);
  return parameter;
}

Tensor Module::param(std::string_view name, const Tensor& shared) {
  state_->check_new_name(name);
  state_->entries.push_back({std::string(name), shared, Entry::shared});
  return shared;
}

Tensor Module::buffer(std::string_view name, Array value) {
  const Scope scope(place());
  state_->check_new_name(name);
  Tensor numbers = Tensor(std::move(value)).named(full_name(name));
  state_->entries.push_back({std::string(name), numbers, Entry::buffer});
  return numbers;
}

Tensor Module::buffer(std::string_view name, const Index& value) {
  const Scope scope(place());
  state_->check_new_name(name);
  Tensor numbers = to_real(value).named(full_name(name));
  state_->entries.push_back({std::string(name), numbers, Entry::integer_buffer});
  xgrad::detail::ModelParameters::mark_integers(numbers);
  return numbers;
}

void Module::refuse_size(std::string_view name, const Shape& shape) const {
  fail<LimitError>(class_name(), "no memory for ", name, " of shape ", shape, declared_later());
}

const Shape& Module::possible(std::string_view name, const Shape& shape) const {
  const Scope scope(place());
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    if (size <= 0) return shape;  // empty, or refused elsewhere
    count = size > largest_size / count ? largest_size + 1 : count * size;
  }
  if (count > largest_size) refuse_size(name, shape);
  return shape;
}

std::int64_t Module::positive(std::string_view name, std::int64_t value, std::int64_t most) const {
  const Scope scope(place());
  if (value < 1) fail<ValueError>(class_name(), name, " ", value, " is not positive", declared_later());
  if (value > most) fail<LimitError>(class_name(), name, " of ", value, " is too large", declared_later());
  return value;
}

double Module::probability(std::string_view name, double value) const {
  const Scope scope(place());
  if (!(value >= 0 && value <= 1)) fail<ValueError>(class_name(), name, " ", value, " is not in [0, 1]");
  return value;
}

void ModuleState::visit(const std::function<void(const std::string&, const Entry&)>& f,
                        const std::string& prefix) const {
  check_places();
  for (const Entry& entry : entries) f(prefix + entry.name, entry);
  for (const auto& [name, child] : children) of(*child).visit(f, prefix + name + ".");
}

// A parameter is seen twice only by names given by sharing, of which one may come before the owner's name.
void ModuleState::visit_parameters(const std::function<void(const std::string&, const Tensor&)>& f) const {
  std::vector<const Tensor*> owned, shared;
  const auto holds = [](const std::vector<const Tensor*>& seen, const Tensor& x) {
    return std::ranges::any_of(seen, [&](const Tensor* other) { return same(*other, x); });
  };
  visit([&](const std::string& name, const Entry& entry) {
    if (entry.is_buffer() || holds(shared, entry.tensor)) return;
    if (entry.kind == Entry::shared && holds(owned, entry.tensor)) return;
    (entry.kind == Entry::shared ? shared : owned).push_back(&entry.tensor);
    f(name, entry.tensor);
  });
}

Tensors Module::parameters() const {
  Tensors all;
  state_->visit_parameters([&](const std::string&, const Tensor& parameter) { all.push_back(parameter); });
  return all;
}

std::vector<std::pair<std::string, Tensor>> Module::named_parameters() const {
  std::vector<std::pair<std::string, Tensor>> all;
  state_->visit_parameters(
      [&](const std::string& name, const Tensor& parameter) { all.emplace_back(name, parameter); });
  return all;
}

Tensors Module::buffers() const {
  Tensors all;
  for (const auto& [name, buffer] : named_buffers()) all.push_back(buffer);
  return all;
}

std::vector<std::pair<std::string, Tensor>> Module::named_buffers() const {
  std::vector<std::pair<std::string, Tensor>> all;
  state_->visit([&](const std::string& name, const Entry& entry) {
    if (entry.is_buffer()) all.emplace_back(name, entry.tensor);
  });
  return all;
}

std::int64_t Module::num_parameters() const {
  std::int64_t count = 0;
  state_->visit_parameters([&](const std::string&, const Tensor& parameter) { count += parameter.size(); });
  return count;
}

std::vector<std::pair<std::string, const Module*>> Module::named_modules() const {
  state_->check_places();
  std::vector<std::pair<std::string, const Module*>> all{{"", this}};
  for (const auto& [name, child] : children()) {
    for (const auto& [below, module] : child->named_modules()) {
      all.emplace_back(below.empty() ? name : str(name, ".", below), module);
    }
  }
  return all;
}

const Module& Module::find(std::string_view path) const {
  const Module* module = this;
  for (std::string_view remaining = path; !remaining.empty();) {
    const std::string_view name = remaining.substr(0, remaining.find('.'));
    const auto& below = module->children();
    const auto child = std::ranges::find_if(below, [&](const auto& each) { return each.first == name; });
    if (child == below.end()) {
      std::vector<std::string> names;
      for (const auto& each : below) names.push_back(each.first);
      fail<ValueError>("module", "no module at '", path, "': ", module->description(), " has ", names);
    }
    module = child->second;
    remaining.remove_prefix(std::min(remaining.size(), name.size() + 1));
  }
  return *module;
}

NamedArrays Module::state_dict() const {
  NamedArrays state;
  state_->visit([&](const std::string& name, const Entry& entry) {
    const Array& value = entry.tensor.value();
    const bool is_index = entry.kind == Entry::integer_buffer && holds_integers(value);
    state.emplace(name, is_index ? AnyArray(to_index(value)) : AnyArray(value));
  });
  return state;
}

namespace {

// The values for an entry, if those that a state has under its name fit it, else a note.
std::optional<Array> fitting_values(const std::string& name, const Entry& entry, const AnyArray& given,
                                    StateDifference& difference) {
  const Array* values = std::get_if<Array>(&given);
  const Index* integers = std::get_if<Index>(&given);
  if (!values && !(integers && entry.is_buffer())) {
    difference.add_mismatch(name, "holds no real numbers");
  } else if (values && entry.kind == Entry::integer_buffer && !holds_integers(*values)) {
    difference.add_mismatch(name, "holds no integers");
  } else if (const Shape& shape = values ? values->shape() : integers->shape(); shape != entry.tensor.shape()) {
    difference.add_mismatch(name, str(shape, " for ", entry.tensor.shape()));
  } else {
    return values ? *values : to_real(*integers).value();
  }
  return {};
}

}  // namespace

StateDifference Module::load_state_dict(const NamedArrays& state, const LoadStateOptions& options) const {
  struct Match {
    std::string name;
    Tensor tensor;
    Array values;
    bool shared;
  };
  const Scope scope(state_->described_place());
  StateMatch match(state);
  std::vector<Match> matches;
  std::vector<std::pair<std::string, Tensor>> absent;
  state_->visit([&](const std::string& name, const Entry& entry) {
    const AnyArray* given = match.find(name);
    if (!given) {
      absent.emplace_back(name, entry.tensor);
    } else if (const auto values = fitting_values(name, entry, *given, match.difference)) {
      matches.push_back({name, entry.tensor, *values, entry.kind == Entry::shared});
    }
  });
  for (const auto& [name, tensor] : absent) {
    const auto is_given = [&tensor = tensor](const Match& one) { return same(one.tensor, tensor); };
    if (std::ranges::none_of(matches, is_given)) match.difference.missing.push_back(name);
  }
  for (const Match& one : matches) {
    if (!one.shared) continue;
    const auto disagrees = [&](const Match& other) {
      return same(other.tensor, one.tensor) && other.values.data() != one.values.data() &&
             !allclose(other.values, one.values, {.rtol = 0, .atol = 0, .equal_nan = true});
    };
    if (const auto other = std::ranges::find_if(matches, disagrees); other != matches.end()) {
      match.difference.add_mismatch(one.name, str("differs from ", other->name, ", which is the same parameter"));
    }
  }
  const StateDifference& difference = match.finish();
  if (options.strict || !difference.mismatched.empty()) difference.refuse("load_state_dict", options.source);
  for (const Match& one : matches) {
    one.tensor.assign(one.values);
    xgrad::detail::use_huge_pages(one.tensor.value());
  }
  return difference;
}

void ModuleState::set_training(bool on) {
  training = on;
  for (const auto& [name, child] : children) of(*child).set_training(on);
}

void Module::train() const { state_->set_training(true); }
void Module::eval() const { state_->set_training(false); }
bool Module::training() const { return state_->training; }

void Module::zero_grad() const {
  state_->visit([](const std::string&, const Entry& entry) { entry.tensor.zero_grad(); });
}

std::uint64_t Module::add_hook(ForwardHook hook) const {
  state_->hooks.push_back({state_->next_hook, std::move(hook)});
  return state_->next_hook++;
}

void Module::remove_hook(std::uint64_t id) const {
  std::erase_if(state_->hooks, [id](const ModuleState::Hook& hook) { return hook.id == id; });
}

const Place* ModuleScope::place_of(const Module& module) { return ModuleState::of(module).described_place(); }

bool ModuleScope::is_hooked() const {
  const ModuleState& state = ModuleState::of(module_);
  state.check_places();
  return !state.hooks.empty();
}

Tensor ModuleScope::operator()(Tensor output) const {
  if (ModuleState::of(module_).hooks.empty()) return output;
  const auto hooks = ModuleState::of(module_).hooks;  // a hook may remove itself
  for (const ModuleState::Hook& hook : hooks) {
    if (Tensor replacement = hook.function({module_, inputs_, indices_, output}); replacement.defined()) {
      output = std::move(replacement);
    }
  }
  return output;
}

Eval::Eval(const Module& module) {
  module.apply([this](const Module& part) { parts_.push_back({&part, part.training()}); });
  for (const Part& part : parts_) {
    auto& evals = ModuleState::of(*part.module).evals;
    evals.reserve(evals.size() + 1);
  }
  for (const Part& part : parts_) {
    ModuleState::of(*part.module).evals.push_back(this);
    ModuleState::of(*part.module).training = false;
  }
}

std::vector<Eval::Part>::iterator Eval::find(const Module& module) {
  return std::ranges::find(parts_, &module, &Part::module);
}

// A later Eval that is still alive keeps the module, and restores the old mode in the end.
Eval::~Eval() {
  for (const auto& [module, was_training] : parts_) {
    ModuleState& state = ModuleState::of(*module);
    const auto after = state.evals.erase(std::ranges::find(state.evals, this));
    (after == state.evals.end() ? state.training : (*after)->find(*module)->was_training) = was_training;
  }
}

std::optional<Eval> outside_of_training(const Module& model) {
  if (!model.training()) return std::nullopt;
  return std::optional<Eval>(std::in_place, model);
}

std::int64_t freeze(const Module& module) {
  return xgrad::detail::set_requires_grad("freeze", module.parameters(), false);
}
std::int64_t unfreeze(const Module& module) {
  return xgrad::detail::set_requires_grad("unfreeze", module.parameters(), true);
}

WeightDecayRule without_weight_decay(const Module& model) {
  Tensors exempt;
  ModuleState::of(model).visit([&](const std::string&, const Entry& entry) {
    if (entry.decay == Decay::no || (!entry.is_buffer() && entry.tensor.rank() < 2)) exempt.push_back(entry.tensor);
  });
  return [exempt = std::move(exempt)](const Tensor& parameter) {
    return std::ranges::any_of(exempt, [&](const Tensor& each) { return same(each, parameter); });
  };
}

namespace {

struct Line {
  std::string text;
  std::string count;
  friend bool operator==(const Line&, const Line&) = default;
};
using Lines = std::vector<Line>;

// The module and what is below it; the first line still lacks the module's name.
Lines lines_of(const Module& module) {
  const std::int64_t count = module.num_parameters();
  Lines all{{module.description(), count > 0 ? xgrad::detail::with_commas(count) : ""}};
  for (const Entry& entry : ModuleState::of(module).entries) {
    const std::string text = str("  ", entry.name, " ", entry.tensor.shape());
    const bool shared = entry.kind == Entry::shared, buffer = entry.is_buffer();
    all.push_back({text + (shared   ? str(" = ", entry.tensor.name())
                           : buffer ? " (buffer)"
                                    : ""),
                   shared || buffer ? "" : xgrad::detail::with_commas(entry.tensor.size())});
  }
  const auto& children = module.children();
  for (std::size_t i = 0, last = 0; i < children.size(); i = last + 1) {
    Lines child = lines_of(*children[i].second);
    last = i;
    if (is_number(children[i].first)) {
      while (last + 1 < children.size() && lines_of(*children[last + 1].second) == child) ++last;
    }
    std::string name = children[i].first;
    if (last > i) {
      append(name, str("...", children[last].first));
      child[0].count = str(last - i + 1, " x ", child[0].count);
    }
    child[0].text = str(name, ": ", child[0].text);
    for (Line& line : child) all.push_back({"  " + line.text, std::move(line.count)});
  }
  return all;
}

}  // namespace

std::string to_string(const Module& module) {
  const Lines lines = lines_of(module);
  std::size_t text_width = 0, count_width = 0;
  for (const auto& line : lines) {
    text_width = std::max(text_width, line.text.size());
    count_width = std::max(count_width, line.count.size());
  }
  std::string out;
  for (const auto& line : lines) {
    append(out, line.text);
    if (!line.count.empty()) {
      out.append(text_width - line.text.size() + 2 + count_width - line.count.size(), ' ');
      append(out, line.count);
    }
    append(out, '\n');
  }
  return out;
}

std::ostream& operator<<(std::ostream& out, const Module& module) { return out << to_string(module); }

void save(const Module& module, const std::string& path) {
  save_safetensors(path, {.arrays = module.state_dict(), .metadata = {}});
}

StateDifference load(const Module& module, const std::string& path, const LoadStateOptions& options) {
  return module.load_state_dict(load_safetensors(path).arrays, {.strict = options.strict, .source = path});
}

}  // namespace xgrad::nn
