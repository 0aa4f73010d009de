// Optimizer: the base of all optimizers. Parameters in groups, learning rates, steps, and state that can be saved.
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
  std::int64_t skipped = 0;  ///< parameters without a gradient
};

/// The base of optimizers that change each parameter along its own gradient. The kinds are SGD, Adam, AdamW,
/// RMSprop, Adagrad, Adadelta, Lion, Muon.
/// Threads: one at a time, and while it steps, no other thread may use the parameters.
class Optimizer {
 public:
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  virtual ~Optimizer() = default;

  /// Changes every parameter in place along its gradient. `gradients` are in the order of the parameters; an undefined
  /// gradient leaves its parameter unchanged. Throws ValueError for another number of gradients, ShapeError for another
  /// shape. The first step also throws ValueError if a model has got parameters since the optimizer was made, because
  /// they would not be trained. If it throws, also for lack of memory, nothing has changed; errors of an observer's
  /// event() come after the step.
  StepReport step(const Tensors& gradients);
  /// The same with the gradients that backward() has accumulated in the parameters. Frozen parameters do not change.
  /// Throws GraphError if no parameter has a gradient.
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
  /// The rate of the group's options, or of the last set_lr(). Schedules are functions of this rate.
  double initial_lr(int group = 0) const;
  /// Sets the rate of all groups.
  void set_lr(double lr);

  /// Everything that the next steps depend on except the parameters, for a checkpoint: the learning rates, and for each
  /// parameter, by its name (or its number, if it has no name), the count of steps and the moments. The options of each
  /// group are metadata such as "weight_decay.0".
  StateFile state_dict() const;
  /// Restores a state, with its learning rates: the next steps give the same bits. Throws FormatError for another kind
  /// of optimizer; for another value of an option, by its name (to resume with another value, erase the entry from the
  /// metadata); and with every name that is missing, unexpected, of another shape, or holds impossible numbers: a count
  /// of steps that is negative or beyond 2^53, moments that are not finite, squares that are negative. If it throws,
  /// nothing has changed.
  void load_state_dict(const StateFile& state);

 protected:
  /// The state of a parameter.
  struct State {
    std::int64_t steps = 0;          ///< made so far, without the one in progress
    std::vector<Array> moments;      ///< those of its group
    std::optional<Array> direction;  ///< of the step in progress, for kinds with a function `direction`
  };

  /// An array of the parameter's shape that an optimizer saves for each parameter of a group.
  struct Moment {
    const char* name;
    bool negative = true;  ///< whether its numbers may be
    Real initial = 0;      ///< its numbers before the first step
  };
  using Moments = std::vector<Moment>;

  using NamedOptions = std::vector<NamedOption>;

  /// `kind` is the optimizer's name, "adam". All names must live as long as the program. Throws ValueError if none of
  /// the groups, which are added next, has a parameter.
  template <class Options>
  Optimizer(const char* kind, const std::vector<Group<Options>>& groups) : kind_(kind) {
    if (std::ranges::all_of(groups, [](const auto& group) { return group.parameters.empty(); })) {
      fail<ValueError>(kind, "there are no parameters");
    }
  }
  /// Throws ValueError for a rate or a option outside its range or a parameter that is in this or another group
  /// already, GraphError for one that is no leaf.
  void add_group(const Tensors& parameters, double lr, const Moments& moments, const NamedOptions& named);
  /// Sets state.direction if the kind has one, for all parameters before any of them changes.
  virtual void prepare(const Array& g, State& state, int group) const = 0;
  /// x <- x + one step along -g. The arrays that are written to are unshared; the function must not fail.
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

/// The frame of an optimizer with options of type OptionsOf. A kind of optimizer consists of
///
/// - `static constexpr const char* kind`: its name in errors and states
/// - `static NamedOptions named_options(const Options&)`: the options that a state records, and their ranges
/// - `static Moments moments(const Options&)`: the moments of each parameter
/// - `static void advance(Array& x, const Array& g, State&, const Options&, double lr)`: a step, which may not fail
/// - `static Array direction(const Array& g, const State&, const Options&)`, if a step needs something that could
///   fail for lack of memory: made before any parameter moves, and found in State::direction
/// - `static void check(const Tensor& parameter)`, if there are parameters that it cannot train
///
/// Threads: as Optimizer.
template <class Self, class OptionsOf>
class OptimizerOf : public Optimizer {
 public:
  using Options = OptionsOf;
  using Group = optim::Group<Options>;

  /// Both constructors throw ValueError for no parameters, for a duplicate parameter and for an option outside its
  /// range, GraphError for a parameter that is no leaf.
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
