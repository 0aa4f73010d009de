// Optimizer: the base class of all optimizers, with groups of parameters, learning rates, steps, and a state for
// checkpoints.
//
//     optim::AdamW adam{model.parameters(), {.lr = 3e-4}};
//     adam.step(grad(loss, model.parameters()));              // or loss.backward(); adam.step(); adam.zero_grad();
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/files/state.h"
#include "../../core/graph/model_parameters.h"
#include "../../core/graph/tensor.h"
#include "../named_option.h"

namespace xgrad::optim {

/// Parameters that share options.
template <class Options>
struct Group {
  Tensors parameters;
  Options options = {};
};

/// The report of a step.
struct StepReport {
  std::int64_t updated = 0;
  std::int64_t skipped = 0;  ///< number of parameters without a gradient
};

/// The base class of optimizers that change each parameter along its own gradient: SGD, Adam, AdamW, RMSprop, Adagrad,
/// Adadelta, Lion, Muon.
/// Threads: one thread at a time. During a step no other thread may use the parameters.
class Optimizer {
 public:
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  virtual ~Optimizer() = default;

  /// Changes every parameter in place along its gradient. `gradients` are in the order of the parameters; an undefined
  /// gradient leaves its parameter unchanged. Throws ValueError for a wrong number of gradients, and ShapeError for
  /// another shape. The first step also throws ValueError if a model has got parameters since the optimizer was made,
  /// because it would not train them. If it throws, also for lack of memory, nothing is changed; only an error in
  /// event() of an observer is thrown after the step.
  StepReport step(const Tensors& gradients);
  /// The same with the gradients that backward() has accumulated. Frozen parameters do not change. Throws GraphError if
  /// no parameter has a gradient.
  StepReport step();
  /// Clears the accumulated gradients.
  void zero_grad() const;

  /// All parameters, group after group.
  [[nodiscard]] Tensors parameters() const;

  int groups() const { return static_cast<int>(rates_.size()); }
  /// The learning rate of a group. lr() and set_lr() throw ValueError for a group that does not exist and for a rate
  /// that is negative or not finite.
  double lr(int group = 0) const;
  void set_lr(int group, double lr);
  /// The learning rate from the options of the group or from the last set_lr(). Schedules are functions of this rate.
  double initial_lr(int group = 0) const;
  /// Sets the rate of all groups.
  void set_lr(double lr);

  /// The state for a checkpoint: everything that the next steps depend on except for the parameters. It has the
  /// learning rates, and for each parameter the number of steps and the moments. Names in it begin with the name of the
  /// parameter, or its number if it has no name. The options of each group are metadata such as "weight_decay.0".
  StateFile state_dict() const;
  /// Restores a state and its learning rates: the next steps give the same results to the last bit. If it throws,
  /// nothing is changed. Throws FormatError
  /// - for another kind of optimizer,
  /// - for another value of an option, which it names; to resume with another value, erase its entry from the metadata,
  /// - with all names that are missing, unexpected, of another shape, or have impossible values: a negative number of
  ///   steps or one above 2^53, moments that are not finite, negative squares.
  void load_state_dict(const StateFile& state);

 protected:
  /// The state of a parameter.
  struct State {
    std::int64_t steps = 0;          ///< steps so far, without the current one
    std::vector<Array> moments;      ///< one array for each moment of its group
    std::optional<Array> direction;  ///< of the current step, for optimizers with a function `direction`
  };

  /// An array of the shape of the parameter that the optimizer stores for each parameter of a group.
  struct Moment {
    const char* name;
    bool negative = true;  ///< whether its elements may be negative
    Real initial = 0;      ///< its elements before the first step
  };
  using Moments = std::vector<Moment>;

  using NamedOptions = std::vector<NamedOption>;

  /// `kind` is the name of the optimizer, such as "adam". The string must exist as long as the program. Throws
  /// ValueError if no group has a parameter. Call add_group() for each group afterwards.
  template <class Options>
  Optimizer(const char* kind, const std::vector<Group<Options>>& groups) : kind_(kind) {
    if (std::ranges::all_of(groups, [](const auto& group) { return group.parameters.empty(); })) {
      fail<ValueError>(kind, "there are no parameters");
    }
  }
  /// Throws ValueError for a rate or an option outside its range, or a parameter that is already in a group; GraphError
  /// for a parameter that is no leaf.
  void add_group(const Tensors& parameters, double lr, const Moments& moments, const NamedOptions& named);
  /// Sets state.direction, for optimizers that have one. Called for all parameters before any of them changes.
  virtual void prepare(const Array& g, State& state, int group) const = 0;
  /// Adds one step along -g to x. The written arrays have no other owner. Must not fail.
  virtual void update(Array& x, const Array& g, State& state, int group, double lr) const = 0;

 private:
  friend class Scheduler;
  struct Rate {
    double initial, now;
  };
  struct Entry {
    Tensor parameter;
    std::string name;
    int group;
    State state;
  };

  struct Model {
    std::shared_ptr<const xgrad::detail::ModelParameters> parameters;
    std::uint64_t declared;  // when the optimizer was made
  };

  void check_models() const;
  void check_gradient(const Entry& entry, const Array& gradient) const;
  std::vector<Array> prepared(Entry& entry) const;
  void apply(Entry& entry, const Array& gradient);
  std::size_t checked_group(std::string_view op, int group) const;
  const Moments& moments_of(const Entry& entry) const { return moments_[static_cast<std::size_t>(entry.group)]; }

  const char* kind_;
  std::vector<Entry> entries_;
  std::vector<Rate> rates_;                  // by group
  std::vector<Moments> moments_;             // by group
  std::vector<NamedOptions> named_options_;  // by group
  std::vector<Model> models_;
  bool has_stepped_ = false;
};

/// The base class of optimizers with options. A derived class has:
///
/// - `static constexpr const char* kind`: its name in errors and states
/// - `static NamedOptions named_options(const Options&)`: the options that a state records, and their ranges
/// - `static Moments moments(const Options&)`: the moments of each parameter
/// - `static void advance(Array& x, const Array& g, State&, const Options&, double lr)`: a step, which must not fail
/// - `static Array direction(const Array& g, const State&, const Options&)`, if a step allocates memory, which may
///   fail: called before any parameter changes; the result is in State::direction
/// - `static void check(const Tensor& parameter)`, if it cannot train some parameters: throws for these
///
/// Threads: the same rules as for Optimizer.
template <class Self, class OptionsOf>
class OptimizerOf : public Optimizer {
 public:
  using Options = OptionsOf;
  using Group = optim::Group<Options>;

  /// Both constructors throw ValueError for an empty list, a duplicate parameter or an option outside its range, and
  /// GraphError for a parameter that is no leaf.
  OptimizerOf(const Tensors& parameters, const Options& options = {})
      : OptimizerOf(std::vector<Group>{{parameters, options}}) {}
  explicit OptimizerOf(const std::vector<Group>& groups) : Optimizer(Self::kind, groups) {
    for (const auto& [parameters, options] : groups) {
      options_.push_back(options);
      if constexpr (requires { &Self::check; }) std::ranges::for_each(parameters, Self::check);
      add_group(parameters, options.lr, Self::moments(options), Self::named_options(options));
    }
  }

 private:
  void prepare(const Array& g, State& state, int group) const final {
    if constexpr (requires { &Self::direction; }) {
      state.direction = Self::direction(g, state, options_[static_cast<std::size_t>(group)]);
    }
  }
  void update(Array& x, const Array& g, State& state, int group, double lr) const final {
    Self::advance(x, g, state, options_[static_cast<std::size_t>(group)], lr);
  }

  std::vector<Options> options_;
};

}  // namespace xgrad::optim
