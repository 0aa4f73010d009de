// Gradients held against differences: whether the gradient rules of a function are right.
//
//     const Tensor x = variable({{1, 2}, {3, 4}}, "x");
//     const GradcheckReport report = gradcheck([](const Tensors& in) { return tanh(in[0]); }, {x});
//     std::cout << report;
//
// That is how every operation of the library is tested, and what a new one needs first. Use double, that is
// `xgrad_f64`: differences of float numbers have few digits, so in `xgrad` the steps and tolerances are coarse, and
// small mistakes pass.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "../graph/tensor.h"

namespace xgrad {

/// The numbers in double are PyTorch's, those behind them are for float.
struct GradcheckOptions {
  double eps = sizeof(Real) == 8 ? 1e-6 : 1e-2;   ///< how far each number is moved, up and down
  double atol = sizeof(Real) == 8 ? 1e-5 : 1e-3;  ///< right is |analytic - numeric| <= atol + rtol |numeric|
  double rtol = sizeof(Real) == 8 ? 1e-3 : 1e-2;
  double nondet_tol = 0;   ///< two backward passes may differ by so much
  std::uint64_t seed = 0;  ///< of the random gradient of the result
};

/// What a gradient check found.
struct GradcheckReport {
  /// An input whose gradient is wrong.
  struct Wrong {
    int input = 0;               ///< its number, from 0
    std::string name = {};       ///< empty if it has none
    Shape shape = {};            ///< of the input
    std::int64_t count = 0;      ///< so many entries of its gradient are wrong
    Shape at = {};               ///< the position of the worst one
    double analytic = 0;         ///< what the rules give there
    double numeric = 0;          ///< what the difference is there
    std::string suspicion = {};  ///< what the numbers look like; empty if like nothing usual
  };
  std::string check = {};                ///< "gradcheck" or "gradgradcheck"
  std::int64_t entries = 0;              ///< so many entries were compared
  std::vector<Wrong> wrong = {};         ///< in the order of the inputs
  std::vector<std::string> faults = {};  ///< what is wrong beyond single entries

  bool ok() const { return wrong.empty() && faults.empty(); }
};

/// Whether the gradients of f are right at `inputs`, those of them that require one: every entry of the gradient of
/// <v, f(inputs)>, v a random gradient of the result, against
///
///     (<v, f(x + eps e_i)> - <v, f(x - eps e_i)>) / (2 eps)
///
/// Also that f gives the same for the same inputs, the backward pass, too, and that a gradient of zeros gives zeros. f
/// is called twice for every number, with `inputs` themselves, which are moved in place and come back bit for bit,
/// whatever is thrown; so they may be parameters of a model that f runs. Graphs recorded from them before can no longer
/// be differentiated. What is wrong is reported, a backward pass that throws an Error, too. Throws ValueError for an
/// empty f, no input that requires a gradient, or options that are no positive eps and tolerances from 0 on; GraphError
/// for an input that is undefined or, requiring a gradient, no leaf; and what f throws.
/// Threads: no other may use the inputs in the meantime.
GradcheckReport gradcheck(const std::function<Tensor(const Tensors&)>& f, const Tensors& inputs,
                          const GradcheckOptions& options = {});

/// The same for second derivatives: checks the gradients of the function that gives, for `inputs` and a gradient of
/// f(inputs), the gradients of the inputs. The gradient of the result counts as one more input, called "gy".
GradcheckReport gradgradcheck(const std::function<Tensor(const Tensors&)>& f, const Tensors& inputs,
                              const GradcheckOptions& options = {});

/// One line that counts, then one for each finding.
std::string to_string(const GradcheckReport& report);
std::ostream& operator<<(std::ostream& out, const GradcheckReport& report);

}  // namespace xgrad
