// L-BFGS: steps that learn the curvature of the loss, for deterministic problems.
//
//     optim::LBFGS lbfgs{model.parameters(), {.line_search_fn = optim::LineSearch::strong_wolfe}};
//     for (int step = 0; step < 20; ++step) lbfgs.step([&] { return mse_loss(model(x), y); });
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "../../core/files/state.h"
#include "../../core/graph/tensor.h"
#include "../named_option.h"

namespace xgrad::optim {

/// How L-BFGS finds the length of a step.
enum class LineSearch {
  none,          ///< it is lr
  strong_wolfe,  ///< it fulfils the strong Wolfe conditions with c1 = 1e-4 and c2 = 0.9
};

struct LbfgsOptions {
  double lr = 1;
  std::int64_t max_iter = 20;                 ///< iterations in one step
  std::optional<std::int64_t> max_eval = {};  ///< losses computed in one step; 5/4 max_iter if not given
  double tolerance_grad = 1e-7;               ///< a step ends where no gradient is larger
  double tolerance_change = 1e-9;             ///< and where parameters or loss change less
  std::int64_t history_size = 100;            ///< pairs of changes that are saved
  LineSearch line_search_fn = LineSearch::none;
  bool maximize = false;  ///< climb
};

/// The report of a step of L-BFGS.
struct LbfgsReport {
  double loss = 0;  ///< before the step
  std::int64_t iterations = 0;
  std::int64_t evaluations = 0;  ///< how often the loss was computed
};

/// Not an Optimizer: one step evaluates the loss several times along a line, so it takes a closure instead of gradients
/// and has no rates by group.
///
/// Nocedal 1980, in PyTorch's form: the direction is -H g. The estimate H of the inverse Hessian matrix consists of the
/// last changes of parameters s and of gradients y with y s > 1e-10, in memory of 2 history_size copies of the
/// parameters. All parameters are one vector; frozen parameters do not change.
///
/// Threads: one at a time, and while it steps, no other thread may use the parameters.
class LBFGS {
 public:
  using Options = LbfgsOptions;

  /// Throws ValueError for a parameter given twice, none at all, an option that is negative or not finite, max_iter,
  /// max_eval or history_size below 1; GraphError for a parameter that is no leaf.
  explicit LBFGS(const Tensors& parameters, const Options& options = {});
  LBFGS(const LBFGS&) = delete;
  LBFGS& operator=(const LBFGS&) = delete;

  /// Up to max_iter iterations. `loss` computes the loss, of the same data each time; the gradients are taken from its
  /// result, so that nothing has to be zeroed. Throws ValueError for an empty function, ShapeError for a loss that is
  /// not one element, NumericError where the loss or a gradient is not finite, and what `loss` and grad() throw; then
  /// the parameters and the state are unchanged.
  LbfgsReport step(const std::function<Tensor()>& loss);

  [[nodiscard]] Tensors parameters() const;
  double lr() const { return options_.lr; }
  /// Throws ValueError for a rate that is negative or not finite.
  void set_lr(double lr);

  /// Everything that the next steps depend on except the parameters, for a checkpoint.
  StateFile state_dict() const;
  /// Restores a state: the next steps give the same bits. Throws FormatError for a state of another kind of optimizer,
  /// of parameters of another size, with another option (see Optimizer), or with numbers that no step makes. Then
  /// nothing has changed.
  void load_state_dict(const StateFile& state);

 private:
  std::vector<NamedOption> named_options() const;
  struct Entry {
    Tensor parameter;
    std::string name;
  };
  // The state for the next step. Vectors are all parameters, one after the other.
  struct State {
    std::int64_t iterations = 0, evaluations = 0;
    Array direction, gradient;  // of the last iteration
    double length = 0;          // of its step, in directions
    std::vector<Array> gradient_changes, changes;
    std::vector<double> inverse_products;  // 1 / (y s)
    double scale = 1;                      // of the first estimate of the inverse Hessian matrix
  };
  struct Point {
    double loss;
    Array gradient;
  };
  struct Found {
    Point point;
    double length;
    std::int64_t evaluations;
  };

  Point evaluate(const std::function<Tensor()>& loss, LbfgsReport& report) const;
  void move(const std::vector<Array>& from, double length, const Array& direction) const;
  std::vector<Array> values() const;
  void put_back(std::vector<Array>&& values) const;
  Array next_direction(State& state, const Array& gradient) const;
  LbfgsReport iterate(State& state, const std::function<Tensor()>& loss) const;
  template <class Evaluate>
  Found search(const Evaluate& at, const Point& start, double length, const Array& direction, double slope,
               std::int64_t most) const;

  Options options_;
  std::vector<Entry> entries_;
  std::int64_t size_ = 0;
  State state_;
};

}  // namespace xgrad::optim
