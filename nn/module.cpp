// Modules: registration, names, state, modes, hooks and printing.
#include "module.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <ostream>

#include "../core/graph/tensor.h"
#include "../core/runtime/huge_pages.h"
#include "../ops/arrange/create.h"

namespace xgrad::nn {
namespace {

void use_huge_pages(const Tensor& weights) {
  const Array& value = weights.value();
  xgrad::detail::use_huge_pages(value.data(), static_cast<std::size_t>(value.size()) * sizeof(Real));
}

// 1234567 as 1,234,567.
std::string with_commas(std::int64_t count) {
  std::string digits = str(count);
  for (std::ptrdiff_t i = static_cast<std::ptrdiff_t>(digits.size()) - 3; i > 0; i -= 3) {
    digits.insert(static_cast<std::size_t>(i), 1, ',');
  }
  return digits;
}

bool holds_integers(const Array& values) {
  return std::ranges::all_of(values,
                             [](Real value) { return value == std::trunc(value) && std::abs(value) <= Real(0x1p53); });
}

Index integers_of(const Array& values) {
  Index result(values.shape());
  std::ranges::transform(values, result.mutable_data(), [](Real value) { return static_cast<std::int64_t>(value); });
  return result;
}

// Whether two arrays of one shape have the same numbers, NaN among them.
bool same_numbers(const Array& a, const Array& b) {
  return a.data() == b.data() ||
         std::ranges::equal(a, b, [](Real x, Real y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

bool is_number(std::string_view name) { return name.find_first_not_of("0123456789") == name.npos; }

}  // namespace

Module::Module(At here) : place_(intern("")), parent_(here.parent) {
  if (!parent_) {
    model_ = std::make_shared<xgrad::detail::ModelParameters>();
    return;
  }
  parent_->take_place(here.name);
  parent_->check_new_name(here.name);
  place_ = intern(parent_->full_name(here.name));
  training_ = parent_->training_;
  model_ = parent_->model_;
  evals_ = parent_->evals_;
  for (Eval* eval : evals_) eval->parts_.reserve(eval->parts_.size() + 1);
  parent_->children_.emplace_back(std::move(here.name), this);
  for (Eval* eval : evals_) eval->parts_.push_back({this, eval->find(*parent_)->was_training});
}

Module::~Module() {
  if (parent_) std::erase_if(parent_->children_, [this](const auto& child) { return child.second == this; });
  for (const auto& [name, child] : children_) child->parent_ = nullptr;
  for (const Entry& entry : entries_) {
    if (entry.kind == Entry::owned) model_->remove(entry.tensor);
  }
  for (Eval* eval : evals_) eval->parts_.erase(eval->find(*this));
}

std::string Module::class_name() const { return Class::of(*this).name(); }

void Module::refuse_derived(Class layer) const {
  const Scope scope(place_);
  const std::string derived = Class::of(*this).name(), base = layer.name();
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
const Place* Module::described_place() const {
  struct Described {
    static const Place* cached(const Module& module) {
      const bool same_class = module.described_as_.load(std::memory_order_acquire) == Class::of(module);
      return same_class ? module.described_.load(std::memory_order_relaxed) : nullptr;
    }
    static const Place* now(const Module& module, const Place* around) {
      const Place* place = intern(module.path(), module.description(), {}, around);
      module.described_.store(place, std::memory_order_relaxed);
      module.described_as_.store(Class::of(module), std::memory_order_release);
      return place;
    }
    static const Place* around(const Module& module) {
      const Module* outer = module.parent_;
      if (!outer) return nullptr;
      if (const Place* place = cached(*outer)) return place;
      const Place* further = around(*outer);
      const bool complete = outer->parent_ && cached(*outer->parent_);
      return complete ? now(*outer, further) : intern(outer->path(), outer->class_name(), {}, further);
    }
  };
  const Place* place = Described::cached(*this);
  const Place* outer = place && parent_ ? Described::cached(*parent_) : nullptr;
  if (place && (!parent_ || place->around == outer || (!outer && place->around))) return place;
  return Described::now(*this, Described::around(*this));
}

bool Module::is_within(const Module& ancestor) const {
  const Module* at = this;
  while (at && at != &ancestor) at = at->parent_;
  return at != nullptr;
}

// A size that is nonsense is often that of a member which has no value yet.
const char* Module::declared_later() const { return parent_ ? "; is it declared after this layer?" : ""; }

std::string Module::full_name(std::string_view name) const {
  return path().empty() ? std::string(name) : str(path(), ".", name);
}

void Module::check_new_name(std::string_view name) const {
  const auto has_name = [name](const auto& entry) {
    if constexpr (requires { entry.name; }) {
      return entry.name == name;
    } else {
      return entry.first == name;
    }
  };
  if (name.empty() || name.find('.') != name.npos) {
    fail<ValueError>("module", "the name '", full_name(name), "' is empty or holds a dot");
  }
  if (std::ranges::any_of(entries_, has_name) || std::ranges::any_of(children_, has_name)) {
    fail<ValueError>("module", "duplicate name '", full_name(name), "': each member needs a name of its own");
  }
}

At Module::at(std::string_view name) {
  At place{this, std::string(name)};
  places_.emplace_back(name);
  return place;
}

std::string At::path() const { return parent ? parent->full_name(name) : std::string(); }

void At::decline() const {
  if (parent) parent->take_place(name);
}

void Module::take_place(const std::string& name) {
  if (const auto place = std::ranges::find(places_, name); place != places_.end()) places_.erase(place);
}

void Module::refuse_places() const {
  fail<ValueError>("module", "no module took the place '", full_name(places_.front()),
                   "': a constructor with an At hands it on, `: Module(here)`");
}

Tensor Module::add(std::string_view name, const Tensor& tensor, Entry::Kind kind, Decay decay) {
  entries_.push_back({std::string(name), tensor, kind, decay});
  return tensor;
}

Tensor Module::param(std::string_view name, const Shape& shape, const Init& init, Decay decay) {
  const Scope scope(place_);
  check_new_name(name);
  if (!init) fail<ValueError>(class_name(), "the init of ", name, " is empty");
  Tensor parameter;
  try {
    Array value = init(possible(name, shape));
    if (value.shape() != shape) {
      fail<ShapeError>(class_name(), "the init of ", name, " gives ", value.shape(), ", not ", shape);
    }
    parameter = xgrad::variable(std::move(value), full_name(name));
    use_huge_pages(parameter);
  } catch (const std::bad_alloc&) {
    refuse_size(name, shape);
  } catch (const LimitError&) {  // an array that there is no memory for: the layer knows more about it
    refuse_size(name, shape);
  }
  (void)add(name, parameter, Entry::owned, decay);
  xgrad::detail::ModelParameters::add(model_, parameter);
  return parameter;
}

Tensor Module::param(std::string_view name, const Tensor& shared) {
  check_new_name(name);
  return add(name, shared, Entry::shared);
}

Tensor Module::buffer(std::string_view name, Array value) {
  const Scope scope(place_);
  check_new_name(name);
  return add(name, Tensor(std::move(value)).named(full_name(name)), Entry::buffer);
}

Tensor Module::buffer(std::string_view name, const Index& value) {
  const Scope scope(place_);
  check_new_name(name);
  const Tensor numbers = to_real(value).named(full_name(name));
  (void)add(name, numbers, Entry::integer_buffer);
  xgrad::detail::ModelParameters::mark_integers(numbers);
  return numbers;
}

void Module::refuse_size(std::string_view name, const Shape& shape) const {
  fail<LimitError>(class_name(), "no memory for ", name, " of shape ", shape,
                   parent_ ? "; is a size declared after this layer?" : "");
}

const Shape& Module::possible(std::string_view name, const Shape& shape) const {
  const Scope scope(place_);
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    if (size <= 0) return shape;  // empty, or refused elsewhere
    count = size > largest_size / count ? largest_size + 1 : count * size;
  }
  if (count > largest_size) refuse_size(name, shape);
  return shape;
}

std::int64_t Module::positive(std::string_view name, std::int64_t value, std::int64_t most) const {
  const Scope scope(place_);
  if (value < 1) fail<ValueError>(class_name(), name, " ", value, " is not positive", declared_later());
  if (value > most) fail<LimitError>(class_name(), name, " of ", value, " is too large", declared_later());
  return value;
}

double Module::probability(std::string_view name, double value) const {
  const Scope scope(place_);
  if (!(value >= 0 && value <= 1)) fail<ValueError>(class_name(), name, " ", value, " is not in [0, 1]");
  return value;
}

// Calls f(name relative to this module, entry) for everything here and below.
void Module::visit(const std::function<void(const std::string&, const Entry&)>& f, const std::string& prefix) const {
  check_places();
  for (const Entry& entry : entries_) f(prefix + entry.name, entry);
  for (const auto& [name, child] : children_) child->visit(f, prefix + name + ".");
}

// Calls f(name, parameter) once for each. A parameter is seen twice only by names given by sharing, of which one may
// come before the owner's name.
void Module::visit_parameters(const std::function<void(const std::string&, const Tensor&)>& f) const {
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
  visit_parameters([&](const std::string&, const Tensor& parameter) { all.push_back(parameter); });
  return all;
}

std::vector<std::pair<std::string, Tensor>> Module::named_parameters() const {
  std::vector<std::pair<std::string, Tensor>> all;
  visit_parameters([&](const std::string& name, const Tensor& parameter) { all.emplace_back(name, parameter); });
  return all;
}

Tensors Module::parameters_without_decay() const {
  Tensors all;
  visit([&](const std::string&, const Entry& entry) {
    if (entry.decay == Decay::no) all.push_back(entry.tensor);
  });
  return all;
}

Tensors Module::buffers() const {
  Tensors all;
  for (const auto& [name, buffer] : named_buffers()) all.push_back(buffer);
  return all;
}

std::vector<std::pair<std::string, Tensor>> Module::named_buffers() const {
  std::vector<std::pair<std::string, Tensor>> all;
  visit([&](const std::string& name, const Entry& entry) {
    if (entry.is_buffer()) all.emplace_back(name, entry.tensor);
  });
  return all;
}

std::int64_t Module::num_parameters() const {
  std::int64_t count = 0;
  visit_parameters([&](const std::string&, const Tensor& parameter) { count += parameter.size(); });
  return count;
}

std::vector<std::pair<std::string, const Module*>> Module::named_modules() const {
  check_places();
  std::vector<std::pair<std::string, const Module*>> all{{"", this}};
  for (const auto& [name, child] : children_) {
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
    const auto child = std::ranges::find(module->children_, name, &decltype(children_)::value_type::first);
    if (child == module->children_.end()) {
      std::vector<std::string> names;
      for (const auto& [known, below] : module->children_) names.push_back(known);
      fail<ValueError>("module", "no module at '", path, "': ", module->description(), " has ", names);
    }
    module = child->second;
    remaining.remove_prefix(std::min(remaining.size(), name.size() + 1));
  }
  return *module;
}

NamedArrays Module::state_dict() const {
  NamedArrays state;
  visit([&](const std::string& name, const Entry& entry) {
    const Array& value = entry.tensor.value();
    const bool is_index = entry.kind == Entry::integer_buffer && holds_integers(value);
    state.emplace(name, is_index ? AnyArray(integers_of(value)) : AnyArray(value));
  });
  return state;
}

StateDifference Module::load_state_dict(const NamedArrays& state, const LoadStateOptions& options) const {
  struct Match {
    std::string name;
    Tensor tensor;
    Array value;
    bool shared;
  };
  const Scope scope(described_place());
  StateDifference difference;
  std::vector<Match> matches;
  std::vector<std::pair<std::string, Tensor>> absent;
  std::size_t known = 0;
  visit([&](const std::string& name, const Entry& entry) {
    const auto found = state.find(name);
    if (found == state.end()) {
      absent.emplace_back(name, entry.tensor);
      return;
    }
    ++known;
    const Array* value = std::get_if<Array>(&found->second);
    const Index* integers = std::get_if<Index>(&found->second);
    if (!value && !(integers && entry.is_buffer())) {
      difference.add_mismatch(name, "holds no real numbers");
    } else if (value && entry.kind == Entry::integer_buffer && !holds_integers(*value)) {
      difference.add_mismatch(name, "holds no integers");
    } else if (const Shape& shape = value ? value->shape() : integers->shape(); shape != entry.tensor.shape()) {
      difference.add_mismatch(name, shape, entry.tensor.shape());
    } else {
      matches.push_back({name, entry.tensor, value ? *value : to_real(*integers).value(), entry.kind == Entry::shared});
    }
  });
  for (const auto& [name, tensor] : absent) {
    const auto is_given = [&tensor = tensor](const Match& match) { return same(match.tensor, tensor); };
    if (std::ranges::none_of(matches, is_given)) difference.missing.push_back(name);
  }
  if (known < state.size()) {
    NamedArrays remaining = state;
    visit([&](const std::string& name, const Entry&) { remaining.erase(name); });
    for (const auto& [name, value] : remaining) difference.unexpected.push_back(name);
  }
  for (const Match& one : matches) {
    if (!one.shared) continue;
    const auto disagrees = [&](const Match& other) {
      return same(other.tensor, one.tensor) && !same_numbers(other.value, one.value);
    };
    if (const auto other = std::ranges::find_if(matches, disagrees); other != matches.end()) {
      difference.add_mismatch(one.name, str("differs from ", other->name, ", which is the same parameter"));
    }
  }
  if (options.strict || !difference.mismatched.empty()) difference.refuse("load_state_dict", options.source);
  for (const Match& match : matches) {
    match.tensor.assign(match.value);
    use_huge_pages(match.tensor);
  }
  return difference;
}

void Module::set_training(bool on) const {
  training_ = on;
  for (const auto& [name, child] : children_) child->set_training(on);
}

void Module::zero_grad() const {
  visit([](const std::string&, const Entry& entry) { entry.tensor.zero_grad(); });
}

std::uint64_t Module::add_hook(ForwardHook hook) const {
  hooks_.push_back({next_hook_, std::move(hook)});
  return next_hook_++;
}

void Module::remove_hook(std::uint64_t number) const {
  std::erase_if(hooks_, [number](const Hook& hook) { return hook.number == number; });
}

Tensor Entered::operator()(Tensor output) const {
  if (module_.hooks_.empty()) return output;
  const auto hooks = module_.hooks_;  // a hook may remove itself
  for (const Module::Hook& hook : hooks) {
    if (Tensor replacement = hook.function({module_, inputs_, indices_, output}); replacement.defined()) {
      output = std::move(replacement);
    }
  }
  return output;
}

Eval::Eval(const Module& module) {
  module.apply([this](const Module& part) { parts_.push_back({&part, part.training()}); });
  for (const Part& part : parts_) part.module->evals_.reserve(part.module->evals_.size() + 1);
  for (const Part& part : parts_) {
    part.module->evals_.push_back(this);
    part.module->training_ = false;
  }
}

std::vector<Eval::Part>::iterator Eval::find(const Module& module) {
  return std::ranges::find(parts_, &module, &Part::module);
}

// A later Eval that is still alive keeps the module, and restores the old mode in the end.
Eval::~Eval() {
  for (const auto& [module, was_training] : parts_) {
    const auto after = module->evals_.erase(std::ranges::find(module->evals_, this));
    (after == module->evals_.end() ? module->training_ : (*after)->find(*module)->was_training) = was_training;
  }
}

std::optional<Eval> outside_of_training(const Module& model) {
  if (!model.training()) return std::nullopt;
  return std::optional<Eval>(std::in_place, model);
}

namespace {

std::int64_t set_gradients(const char* op, const Module& module, bool wanted) {
  const Tensors parameters = module.parameters();
  for (const Tensor& parameter : parameters) {
    if (!parameter.is_leaf()) {
      fail<GraphError>(op, "only leaves can be parameters, not the result of ",
                       xgrad::detail::Engine::node(parameter)->op);
    }
  }
  for (const Tensor& parameter : parameters) parameter.set_requires_grad(wanted);
  return std::ssize(parameters);
}

}  // namespace

std::int64_t freeze(const Module& module) { return set_gradients("freeze", module, false); }
std::int64_t unfreeze(const Module& module) { return set_gradients("unfreeze", module, true); }

struct ModulePrinter {
  struct Line {
    std::string text;
    std::string count;
    friend bool operator==(const Line&, const Line&) = default;
  };
  using Lines = std::vector<Line>;

  // The module and what is below it; the first line still lacks the module's name.
  static Lines lines(const Module& module) {
    const std::int64_t count = module.num_parameters();
    Lines all{{module.description(), count > 0 ? with_commas(count) : ""}};
    for (const Module::Entry& entry : module.entries_) {
      const std::string text = str("  ", entry.name, " ", entry.tensor.shape());
      const bool shared = entry.kind == Module::Entry::shared, buffer = entry.is_buffer();
      all.push_back({text + (shared   ? str(" = ", entry.tensor.name())
                             : buffer ? " (buffer)"
                                      : ""),
                     shared || buffer ? "" : with_commas(entry.tensor.size())});
    }
    const auto& children = module.children_;
    for (std::size_t i = 0, last = 0; i < children.size(); i = last + 1) {
      Lines child = lines(*children[i].second);
      last = i;
      if (is_number(children[i].first)) {
        while (last + 1 < children.size() && lines(*children[last + 1].second) == child) ++last;
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
};

std::string to_string(const Module& module) {
  const ModulePrinter::Lines lines = ModulePrinter::lines(module);
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
