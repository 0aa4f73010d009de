// L-BFGS: an optimizer that estimates the curvature of the loss, for losses without randomness.
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

/// How L-BFGS chooses the length of a step.
enum class LineSearch {
  none,          ///< the length is lr; in the first iteration lr min(1, 1 / sum |g|)
  strong_wolfe,  ///< the length fulfils the strong Wolfe conditions with c1 = 1e-4 and c2 = 0.9
};

struct LbfgsOptions {
  double lr = 1;
  std::int64_t max_iter = 20;                 ///< maximum number of iterations in one step
  std::optional<std::int64_t> max_eval = {};  ///< limit of evaluations of the loss in one step; default 5/4 max_iter
  double tolerance_grad = 1e-7;               ///< ends a step when no element of |g| is above it
  double tolerance_change = 1e-9;             ///< ends a step when parameters or loss change by less
  std::int64_t history_size = 100;            ///< maximum number of saved pairs (s, y)
  LineSearch line_search_fn = LineSearch::none;
  bool maximize = false;  ///< maximize the loss
};

/// The report of a step of L-BFGS.
struct LbfgsReport {
  double loss = 0;  ///< the loss before the step
  std::int64_t iterations = 0;
  std::int64_t evaluations = 0;  ///< how many times the loss was computed
};

/// L-BFGS (Nocedal 1980), in the form of PyTorch. It is not an Optimizer: one step evaluates the loss several times, so
/// it takes a function instead of gradients, and all parameters share one learning rate.
///
/// The direction of a step is -H g. H estimates the inverse Hessian from the last pairs of changes with y s > 1e-10: s
/// of the parameters, y of the gradients. This needs memory for 2 history_size copies of the parameters. All parameters
/// form one vector; frozen parameters do not change.
///
/// Threads: one thread at a time. During a step no other thread may use the parameters.
class LBFGS {
 public:
  using Options = LbfgsOptions;

  /// Throws ValueError for a duplicate parameter, an empty list, an option that is negative or not finite, or max_iter,
  /// max_eval or history_size below 1; GraphError for a parameter that is no leaf.
  explicit LBFGS(const Tensors& parameters, const Options& options = {});
  LBFGS(const LBFGS&) = delete;
  LBFGS& operator=(const LBFGS&) = delete;

  /// Makes up to max_iter iterations. `loss` computes the loss of the same data each time; no gradients have to be
  /// zeroed. Throws ValueError for an empty function, and ShapeError for a loss with more than one element. Throws
  /// NumericError for a loss or a gradient that is not finite, and what `loss` and grad() throw. If it throws,
  /// parameters and state are unchanged.
  LbfgsReport step(const std::function<Tensor()>& loss);

  [[nodiscard]] Tensors parameters() const;
  double lr() const { return options_.lr; }
  /// Throws ValueError for a rate that is negative or not finite.
  void set_lr(double lr);

  /// The state for a checkpoint: everything that the next steps depend on except for the parameters.
  StateFile state_dict() const;
  /// Restores a state: the next steps give the same results to the last bit. Throws FormatError for the state of
  /// another kind of optimizer, parameters of another size, another value of an option (see Optimizer), or values that
  /// no step produces. If it throws, nothing is changed.
  void load_state_dict(const StateFile& state);

 private:
  std::vector<NamedOption> named_options() const;
  struct Entry {
    Tensor parameter;
    std::string name;
  };
  // The state for the next step. A vector has the elements of all parameters, one after the other.
  struct State {
    std::int64_t iterations = 0, evaluations = 0;
    Array direction, gradient;  // of the last iteration
    double length = 0;          // of the step: s = length direction
    std::vector<Array> gradient_changes, changes;
    std::vector<double> inverse_products;  // 1 / (y s)
    double scale = 1;                      // factor of the first estimate of the inverse Hessian matrix
  };
  struct Point {
    double loss;
    Array gradient;
  };
  struct Found {
    Point point;
    double length;
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
