// Module: the base class of all layers and models. Derive your own layers from Layer (layer.h), and containers from
// Module:
//
//     struct Twice : nn::Module {
//       nn::Linear one{at("one"), 64, 64}, two{at("two"), 64, 64};
//       explicit Twice(At here) : Module(std::move(here)) {}
//
//       Tensor operator()(const Tensor& x) const {
//         const auto here = enter(x);  // errors and diagrams name this module
//         return here(two(one(x)));    // the hooks see the result
//       }
//     };
//
// `at("one")` is the place of a child with the name "one". The child is registered in its parent. From the start its
// parameters have full names (`blocks.0.one.weight`), which errors, files, printed models and diagrams use.
//
// A tensor that no module registers is missing from parameters(), files and optimizers. optim::audit finds such
// tensors. They come from:
//
//     Encoder encoder;                   a member whose class takes no place: give its constructor an At
//     nn::Linear fc{nn::root, 2, 3};     a place outside of the model: write at("fc")
//     Tensor w = param(...);  w = ...;   a member to which another tensor is assigned: declare it const; w.assign(...)
//
// If a constructor takes an At and does not pass it to `Module(here)`, the first run of the parent throws.
#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "../core/base/class.h"
#include "../core/base/error.h"
#include "../core/base/scope.h"
#include "../core/files/safetensors.h"
#include "../core/files/state.h"
#include "../core/graph/observe.h"
#include "../core/graph/tensor.h"
#include "base/friendly_errors.h"
#include "base/init.h"

namespace xgrad::nn {

using xgrad::detail::Class;

namespace detail {
struct ModuleState;  // module_state.h
}  // namespace detail

/// The place of a module: a name within a parent. Module::at makes it.
struct At {
  Module* parent = nullptr;
  std::string name = {};

  /// The path in the model: `decoder.blocks.1`.
  std::string path() const;
  /// Declares that no module will be made at this place. (A place without a module is an error otherwise.)
  void decline() const;
};
/// The place of a module without a parent: `nn::Linear w{nn::root, 512, 64};`
inline const At root;

/// The arguments of a forward hook: one run of a module.
struct ForwardCall {
  const Module& module;
  const Tensors& inputs;              ///< the arguments that are tensors
  const std::vector<Index>& indices;  ///< the arguments that are integers
  const Tensor& output;
};
/// A function that is called with the result of a module and may return a replacement. An undefined Tensor leaves the
/// result as it is.
using ForwardHook = std::function<Tensor(const ForwardCall& call)>;

/// The scope of one run of a module. While it exists, errors and nodes of the graph have the path of the module.
/// Calling it with the result runs the forward hooks of the module and returns their result.
class ModuleScope {
 public:
  template <class... Inputs>
  ModuleScope(const Module& module, const Inputs&... inputs) : scope_(place_of(module)), module_(module) {
    if (is_hooked()) [[unlikely]]
      (keep(inputs), ...);
  }
  ModuleScope(const ModuleScope&) = delete;
  ModuleScope& operator=(const ModuleScope&) = delete;

  Tensor operator()(Tensor output) const;

 private:
  template <class Input>
  void keep(const Input& input) {
    if constexpr (std::is_same_v<Input, Index>) {
      indices_.push_back(input);
    } else if constexpr (std::is_same_v<Input, Tensors>) {
      inputs_.insert(inputs_.end(), input.begin(), input.end());
    } else if constexpr (std::is_convertible_v<const Input&, Tensor>) {
      inputs_.push_back(input);
    }
  }

  static const Place* place_of(const Module& module);
  bool is_hooked() const;  // throws ValueError if a place that the module has made is not taken

  Scope scope_;
  const Module& module_;
  Tensors inputs_;
  std::vector<Index> indices_;
};

/// Whether weight decay applies to a parameter: see without_weight_decay.
enum class Decay {
  yes,
  no  ///< a smaller parameter does not make the function simpler
};

/// The maximum number of layers of a Stack, a recurrent layer or a published model.
inline constexpr std::int64_t most_layers = 1 << 16;

struct LoadStateOptions {
  bool strict = true;            ///< whether missing and unexpected names are an error
  std::string_view source = {};  ///< the file that the state came from, for errors; load() sets it
};

/// A layer or a model: parameters, buffers and child modules, each with a name. Modules are neither copied nor moved.
/// Parents and children may be destroyed in any order, but no module while it runs. A const module always has the same
/// members; their values, the mode and the hooks may change, as for a const Tensor.
///
/// Threads: several threads may run one module, each with its own inputs and graph, except for BatchNorm in training.
/// Only one thread may change it: construction, load_state_dict(), train(), eval(), Eval, hooks, zero_grad(), the step
/// of an optimizer.
class Module : private detail::NoVariables {
 public:
  using At = nn::At;
  using Placeless = detail::Placeless;

  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  virtual ~Module();

  /// The path in the model, `decoder.blocks.1`; empty for the model itself.
  const std::string& path() const;
  /// The name of the class and the text of extra_repr(): `Linear 512 -> 64`.
  std::string description() const;

  /// All parameters of this module and the modules below it, in the order of their declaration. A parameter with
  /// several names is listed once, under the first name.
  [[nodiscard]] Tensors parameters() const;
  std::vector<std::pair<std::string, Tensor>> named_parameters() const;
  /// All buffers in the same order: tensors that are saved with the parameters but not trained.
  [[nodiscard]] Tensors buffers() const;
  std::vector<std::pair<std::string, Tensor>> named_buffers() const;
  /// The total number of elements of the parameters.
  std::int64_t num_parameters() const;
  /// The child modules, in the order of their declaration.
  const std::vector<std::pair<std::string, Module*>>& children() const;

  /// Whether this module is `ancestor` or one of the modules below it.
  bool is_within(const Module& ancestor) const;
  /// This module, with an empty path, and all modules below it with their paths from here, parents first.
  std::vector<std::pair<std::string, const Module*>> named_modules() const;
  /// The module at a path from here: `model.get("blocks.3.attn")`, or with its type
  /// `model.get<nn::Linear>("blocks.3.mlp.fc1").weight`. Throws ValueError, which lists the existing names, if there is
  /// none, and ValueError if it has another type.
  template <class T = Module>
  const T& get(std::string_view path) const;

  /// Calls f for this module and all modules below it that are a T, parents first:
  ///
  ///     model.apply<nn::Linear>([](const nn::Linear& l) { nn::init::reset(l.weight, nn::init::xavier_uniform()); });
  template <class T = Module, class F>
  void apply(const F& f);
  template <class T = Module, class F>
  void apply(const F& f) const;

  /// The values of all parameters and buffers, with names relative to this module. The arrays share their elements with
  /// the tensors.
  [[nodiscard]] NamedArrays state_dict() const;
  /// Loads the values of a state. Buffers may be integers. A parameter with several names needs only one of them.
  /// Throws FormatError, which lists every name that is missing, unexpected, or of another shape or kind. It also lists
  /// the names of a tied parameter whose values differ. Nothing is loaded if it throws. With .strict = false, missing
  /// and unexpected names are returned and are no error.
  StateDifference load_state_dict(const NamedArrays& state, const LoadStateOptions& options = {}) const;

  /// Switches this module and the modules below it to training mode, the default, or to evaluation mode.
  void train() const;
  void eval() const;
  bool training() const;

  /// Clears the gradients of all parameters.
  void zero_grad() const;

  /// Calls `hook` after each run of this module. The hook is a function of a ForwardCall that returns a Tensor or
  /// nothing. The module must be a Layer, or call enter() as above. The returned id is for remove_hook. Throws
  /// ValueError for an empty function. For a hook on the gradient of the result use `call.output.on_grad(f)`.
  template <class F>
  std::uint64_t on_forward(F hook) const;
  void remove_hook(std::uint64_t id) const;

 protected:
  // For authors of modules.

  /// A module without a parent: a model.
  Module() : Module(root) {}
  /// A child at this place, or with `root` a model. Throws ValueError if the name exists in the parent, is empty, or
  /// has a dot.
  explicit Module(At here);

  /// The place of a child: `nn::Linear out{at("out"), 64, 10};`. If no module uses the place, the first run throws.
  At at(std::string_view name);
  /// Declares a parameter of this module: `const Tensor weight = param("weight", {out, in}, init::xavier_uniform())`.
  /// It is a leaf with its full name. Throws ValueError for an invalid name or an empty init, ShapeError if the init
  /// returns another shape, and LimitError for a shape that exceeds the memory.
  Tensor param(std::string_view name, const Shape& shape, const Init& init, Decay decay = Decay::yes);
  /// Declares another name for a parameter of another module: tied weights.
  Tensor param(std::string_view name, const Tensor& shared);
  /// Declares a buffer, an array that is saved with the parameters but gets no gradient:
  /// `const Tensor running_mean = buffer("running_mean", Array({channels}, Real(0)))`.
  Tensor buffer(std::string_view name, Array value);
  /// Declares a buffer of integers. It is saved as an Index, and copied where other buffers are averaged.
  Tensor buffer(std::string_view name, const Index& value);

  using NoVariables::variable;

  /// The first line of every operator(): see ModuleScope. Pass it the inputs that hooks may see.
  template <class... Inputs>
  ModuleScope enter(const Inputs&... inputs) const {
    return ModuleScope(*this, inputs...);
  }

  /// The name of the class, for errors. A base class overrides it to name the class under construction.
  virtual std::string class_name() const;

  /// The text in description() after the name of the class: `512 -> 64`.
  virtual std::string extra_repr() const { return {}; }
  /// The upper bound for sizes of layers and for the number of elements of a parameter. It catches uninitialised sizes.
  static constexpr std::int64_t largest_size = std::int64_t(1) << 40;
  /// Returns `value`, the option `name`. Throws ValueError if it is below 1, and LimitError if it is above `most`, as
  /// uninitialised members often are.
  std::int64_t positive(std::string_view name, std::int64_t value, std::int64_t most = largest_size) const;
  /// Returns `shape`, the shape of the array `name`. Throws LimitError if it has more than largest_size elements.
  /// param() calls it.
  const Shape& possible(std::string_view name, const Shape& shape) const;
  /// The place of this module. A constructor opens a scope with it before its checks: `const Scope scope(place());`
  const Place* place() const;
  /// The path of the module followed by `name`: `decoder.blocks.1.weight`.
  std::string full_name(std::string_view name) const;
  /// The hint in errors about invalid sizes that a size may be declared after this layer; empty without a parent.
  const char* declared_later() const;
  /// Returns `value`. Throws ValueError unless it is in [0, 1].
  double probability(std::string_view name, double value) const;

 private:
  friend struct detail::ModuleState;

  [[noreturn]] void refuse_size(std::string_view name, const Shape& shape) const;
  const Module& find(std::string_view path) const;
  std::uint64_t add_hook(ForwardHook hook) const;

  std::unique_ptr<detail::ModuleState> state_;
};

/// A scope in which the module and all modules below it are in evaluation mode, also modules that are added in it. Its
/// end restores the mode of each. Scopes and modules may end in any order. Threads: no other thread may run the module.
class [[nodiscard]] Eval {
 public:
  [[nodiscard]] explicit Eval(const Module& module);
  ~Eval();
  Eval(const Eval&) = delete;
  Eval& operator=(const Eval&) = delete;

 private:
  friend class Module;
  struct Part {
    const Module* module;
    bool was_training;
  };
  std::vector<Part>::iterator find(const Module& module);

  std::vector<Part> parts_;
};

/// An Eval for a model in training mode; nothing for a model in evaluation mode. Such a model is not changed, so
/// several threads may run it.
std::optional<Eval> outside_of_training(const Module& model);

/// Freezes or unfreezes the parameters of this module and the modules below it: `nn::freeze(model.encoder)`. Frozen
/// parameters get no gradients, and optimizers do not change them. (Running statistics, as of BatchNorm, follow the
/// mode: `model.encoder.eval()`.) Returns the number of parameters. Throws GraphError if tied weights are no leaf;
/// nothing is changed then. To freeze some parameters by name use optim::freeze.
std::int64_t freeze(const Module& module);
std::int64_t unfreeze(const Module& module);

/// A predicate on parameters, for optim::parameter_groups.
using WeightDecayRule = std::function<bool(const Tensor& parameter)>;
/// The usual rule for the parameters without weight decay. Smaller values of these do not make the function simpler.
///
///     optim::AdamW adam{optim::parameter_groups<optim::AdamWOptions>(
///         model.parameters(), {{nn::without_weight_decay(model), {.lr = 3e-4, .weight_decay = 0}}},
///         {.lr = 3e-4, .weight_decay = 0.1})};
///
/// It is true for the parameters of norms, embeddings, learned positions and class tokens, for biases, and for all
/// others with fewer than two axes. A layer marks its parameters with Decay::no. An embedding that is also the head of
/// its model counts as an embedding. The rule stores the parameters, not the model.
WeightDecayRule without_weight_decay(const Module& model);

/// The module as a tree with the shapes and sizes of its parameters. Equal children with consecutive numbers are shown
/// once.
///
///     Mlp 4 -> 8 -> 2       58
///       fc1: Linear 4 -> 8  40
///         weight [8, 4]     32
///         bias [8]           8
///       fc2: Linear 8 -> 2  18
///         weight [2, 8]     16
///         bias [2]           2
///       dropout: Dropout 0
std::string to_string(const Module& module);
std::ostream& operator<<(std::ostream& out, const Module& module);

/// Saves the state of a module to a safetensors file, and loads it. `load(model, path, {.strict = false})` accepts
/// missing and unexpected names. Throws what save_safetensors, load_safetensors and Module::load_state_dict throw.
/// Nothing is changed if load() throws.
void save(const Module& module, const std::string& path);
StateDifference load(const Module& module, const std::string& path, const LoadStateOptions& options = {});

template <class T, class F>
void Module::apply(const F& f) {
  if (T* self = dynamic_cast<T*>(this)) f(*self);
  for (std::size_t i = 0; i < children().size(); ++i) children()[i].second->template apply<T>(f);  // f may add some
}

template <class T, class F>
void Module::apply(const F& f) const {
  if (const T* self = dynamic_cast<const T*>(this)) f(*self);
  for (std::size_t i = 0; i < children().size(); ++i) std::as_const(*children()[i].second).template apply<T>(f);
}

template <class T>
const T& Module::get(std::string_view path) const {
  const Module& found = find(path);
  const T* wanted = dynamic_cast<const T*>(&found);
  if (!wanted) fail<ValueError>("module", "'", path, "' is a ", found.description());
  return *wanted;
}

template <class F>
std::uint64_t Module::on_forward(F hook) const {
  xgrad::detail::refuse_empty("on_forward", hook);
  if constexpr (std::is_void_v<std::invoke_result_t<F&, const ForwardCall&>>) {
    return add_hook([hook = std::move(hook)](const ForwardCall& call) mutable {
      hook(call);
      return Tensor();
    });
  } else {
    return add_hook(std::move(hook));
  }
}

/// For authors of modules: passes the array that value() returns to the observers that want `what` (Observer::wants).
/// value() is called only if an observer wants it, and records no graph.
///
///     nn::show_intermediate(model, "gates", [&] { return sigmoid(gate(x)).value(); });
template <class F>
void show_intermediate(const Module& module, std::string_view what, const F& value) {
  if (Observer::watching()) [[unlikely]]
    xgrad::detail::Notify::intermediate(what, &module, module.path(), value);
}

}  // namespace xgrad::nn
