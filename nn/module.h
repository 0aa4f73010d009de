// Module: the base of every layer and model. A layer of your own is a Layer (layer.h); a container is a Module:
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
// `at("one")` is the place of a child called "one". The child is registered in its parent, and its parameters have full
// names from the beginning (`blocks.0.one.weight`), which errors, files, printing and diagrams use.
//
// A tensor that no module registers is in no parameters(), file or optimizer. optim::audit finds such tensors:
//
//     Encoder encoder;                   a model as a member that takes no place: give its constructor an At
//     nn::Linear fc{nn::root, 2, 3};     a place outside of the model: at("fc")
//     Tensor w = param(...);  w = ...;   a member that is given another tensor: declare it const; w.assign(...)
//
// A constructor that takes an At and does not pass it to `Module(here)` is an error when the parent first runs.
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

/// The place of a module: a name inside a parent. Made by Module::at.
struct At {
  Module* parent = nullptr;
  std::string name = {};

  /// Where it is in the model: `decoder.blocks.1`.
  std::string path() const;
  /// Gives the place up: no module is made here. (A place that no module takes is an error later.)
  void decline() const;
};
/// The place of a layer that stands for itself: `nn::Linear w{nn::root, 512, 64};`
inline const At root;

/// One run of a module, as a forward hook sees it.
struct ForwardCall {
  const Module& module;
  const Tensors& inputs;              ///< in the order of the arguments
  const std::vector<Index>& indices;  ///< those arguments that are integers
  const Tensor& output;
};
/// A function that sees a module's result and may replace it (return an undefined Tensor to leave it as it is).
using ForwardHook = std::function<Tensor(const ForwardCall& call)>;

/// The scope of one run of a module: while it lives, errors and nodes of the graph carry the module's path. Called with
/// the result, it runs the module's forward hooks and returns their result.
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
  no  ///< shrinking it does not make the function simpler
};

/// The most layers of a Stack, a recurrence or a published model.
inline constexpr std::int64_t most_layers = 1 << 16;

struct LoadStateOptions {
  bool strict = true;            ///< refuse missing and unexpected names
  std::string_view source = {};  ///< the file that the state came from, for errors; load() knows it
};

/// A layer or a model: parameters, buffers and child modules, each with a name. Modules are neither copied nor moved.
/// Parents and children may be destroyed in any order, but no module while it runs. A const module always has the same
/// members; their numbers, the mode and the hooks may change, as for a const Tensor.
///
/// Threads: many may run one module, each with its own inputs and graph, except BatchNorm in training. One thread alone
/// may change it: construction, load_state_dict(), train(), eval(), Eval, hooks, zero_grad(), the optimizer's step.
class Module : private detail::NoVariables {
 public:
  using At = nn::At;
  using Placeless = detail::Placeless;

  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  virtual ~Module();

  /// `decoder.blocks.1`; empty for a model.
  const std::string& path() const;
  /// The name of the class and extra_repr(): `Linear 512 -> 64`.
  std::string description() const;

  /// Every parameter of this module and those below, in the order of their declaration; one that has several names is
  /// listed once, under the first.
  [[nodiscard]] Tensors parameters() const;
  std::vector<std::pair<std::string, Tensor>> named_parameters() const;
  /// The same for buffers, which are saved with the parameters but not trained.
  [[nodiscard]] Tensors buffers() const;
  std::vector<std::pair<std::string, Tensor>> named_buffers() const;
  /// The total number of elements of the parameters.
  std::int64_t num_parameters() const;
  /// The modules declared in this one.
  const std::vector<std::pair<std::string, Module*>>& children() const;

  /// Whether this is `ancestor` or one of the modules below it.
  bool is_within(const Module& ancestor) const;
  /// This module, under the empty name, and all below it with their paths from here, parents first.
  std::vector<std::pair<std::string, const Module*>> named_modules() const;
  /// The module at a path from here, `model.get("blocks.3.attn")` or, by its type,
  /// `model.get<nn::Linear>("blocks.3.mlp.fc1").weight`. Throws ValueError if there is none, with those there are, or
  /// if it is of another type.
  template <class T = Module>
  const T& get(std::string_view path) const;

  /// Calls f for this module and all below that are a T, parents first:
  ///
  ///     model.apply<nn::Linear>([](const nn::Linear& l) { nn::init::reset(l.weight, nn::init::xavier_uniform()); });
  template <class T = Module, class F>
  void apply(const F& f);
  template <class T = Module, class F>
  void apply(const F& f) const;

  /// The values of all parameters and buffers by name, relative to this module; the numbers are shared, not copied.
  [[nodiscard]] NamedArrays state_dict() const;
  /// Takes the values of a state; buffers may come as integers. A parameter with several names needs only one of
  /// them. Throws FormatError with every name that is missing, unexpected, of another shape or kind, or differs from
  /// another name of the same parameter; then nothing was loaded. With .strict = false missing and unexpected names are
  /// no error, but returned.
  StateDifference load_state_dict(const NamedArrays& state, const LoadStateOptions& options = {}) const;

  /// Switches this module and those below to training mode, the default, or to evaluation mode.
  void train() const;
  void eval() const;
  bool training() const;

  /// Forgets the gradients of all parameters.
  void zero_grad() const;

  /// Calls `hook` after each run of this module: a function of a ForwardCall that returns a Tensor or nothing. The
  /// module must be a Layer, or call enter() as above. The returned id is for remove_hook. Throws ValueError for an
  /// empty function. A hook of the gradient of its result is `call.output.on_grad(f)`.
  template <class F>
  std::uint64_t on_forward(F hook) const;
  void remove_hook(std::uint64_t id) const;

 protected:
  // For authors of modules.

  /// A module without a parent: a model.
  Module() : Module(root) {}
  /// A child, or with `root` the same. Throws ValueError if the parent has something of this name, or the name is empty
  /// or holds a dot.
  explicit Module(At here);

  /// The place of a child: `nn::Linear out{at("out"), 64, 10};`. A place that no module takes is an error later.
  At at(std::string_view name);
  /// A parameter of this module, `const Tensor weight = param("weight", {out, in}, init::xavier_uniform())`: a leaf
  /// that knows its full name. Throws ValueError for a name as above or an empty init, ShapeError if the init gives
  /// another shape, LimitError for a shape that there is no memory for.
  Tensor param(std::string_view name, const Shape& shape, const Init& init, Decay decay = Decay::yes);
  /// One more name for a parameter that belongs to another module: tied weights.
  Tensor param(std::string_view name, const Tensor& shared);
  /// An array that is saved with the parameters but gets no gradient:
  /// `const Tensor running_mean = buffer("running_mean", Array({channels}, Real(0)))`.
  Tensor buffer(std::string_view name, Array value);
  /// One of integers: a Tensor like others, but saved as an Index, and copied where others are averaged.
  Tensor buffer(std::string_view name, const Index& value);

  using NoVariables::variable;

  /// The first line of every operator(): see ModuleScope. Give it the inputs for the hooks to see.
  template <class... Inputs>
  ModuleScope enter(const Inputs&... inputs) const {
    return ModuleScope(*this, inputs...);
  }

  /// The name of this module's class for errors. A base overrides it to name the class under construction.
  virtual std::string class_name() const;

  /// The text about this module after the name of its class: `512 -> 64`.
  virtual std::string extra_repr() const { return {}; }
  /// An upper bound of sizes of layers and of elements of a parameter, which catches sizes without a value.
  static constexpr std::int64_t largest_size = std::int64_t(1) << 40;
  /// `value`, the option `name`. Throws ValueError if it is below 1, LimitError if it is above `most`: a member that is
  /// used before it has a value often is.
  std::int64_t positive(std::string_view name, std::int64_t value, std::int64_t most = largest_size) const;
  /// `shape`, that of the array `name`. Throws LimitError if it has more than largest_size elements. param() calls it.
  const Shape& possible(std::string_view name, const Shape& shape) const;
  /// Where this module is, for the scope of what its constructor checks: `const Scope scope(place());`
  const Place* place() const;
  /// `name` after the module's path: `decoder.blocks.1.weight`.
  std::string full_name(std::string_view name) const;
  /// A hint that errors about invalid sizes end with when this module is a member of another.
  const char* declared_later() const;
  /// `value`, if it is in [0, 1]. Throws ValueError otherwise.
  double probability(std::string_view name, double value) const;

 private:
  friend struct detail::ModuleState;

  [[noreturn]] void refuse_size(std::string_view name, const Shape& shape) const;
  const Module& find(std::string_view path) const;
  std::uint64_t add_hook(ForwardHook hook) const;

  std::unique_ptr<detail::ModuleState> state_;
};

/// A scope in which the module and all below it are in evaluation mode, also modules that are added. Its end restores
/// the mode of each; scopes and modules may end in any order. Threads: no other thread may run the module.
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

/// An Eval for a model that is in training; none for one in evaluation mode, which is not touched, so that several
/// threads may run it.
std::optional<Eval> outside_of_training(const Module& model);

/// Freezes the parameters of this module and those below it, `nn::freeze(model.encoder)`, so that no gradients flow to
/// them and optimizers leave them unchanged; or unfreezes them. Return the number of parameters. (Statistics, as of
/// BatchNorm, follow the mode: `model.encoder.eval()`.) Throw GraphError for tied weights that are no leaf; then
/// nothing has changed. For some of the parameters, by their names, there is optim::freeze.
std::int64_t freeze(const Module& module);
std::int64_t unfreeze(const Module& module);

/// The module as a tree with shapes and numbers of parameters; equal numbered children in a row are shown once.
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

/// Writes the module's state to a safetensors file, and reads it back, `load(model, path, {.strict = false})` also
/// where names are missing or unexpected. Throw as save_safetensors, load_safetensors and Module::load_state_dict; when
/// loading throws, nothing has changed.
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

/// For authors of modules: shows the array that value() returns to the observers that want `what` (Observer::wants). It
/// is computed without a graph, and only if an observer wants it.
///
///     nn::show_intermediate(model, "gates", [&] { return sigmoid(gate(x)).value(); });
template <class F>
void show_intermediate(const Module& module, std::string_view what, const F& value) {
  if (Observer::watching()) [[unlikely]]
    xgrad::detail::Notify::intermediate(what, &module, module.path(), value);
}

}  // namespace xgrad::nn
