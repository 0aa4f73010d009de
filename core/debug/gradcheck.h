// gradcheck: gradients compared with finite differences, to test gradient rules.
//
//     const Tensor x = variable({{1, 2}, {3, 4}}, "x");
//     const GradcheckReport report = gradcheck([](const Tensors& in) { return tanh(in[0]); }, {x});
//     std::cout << report;
//
// Every operation of the library is tested like this, and a new one needs it first. Use double, that is `xgrad_f64`:
// differences of float numbers have few digits, so in `xgrad` the steps and tolerances are coarse, and small mistakes
// pass.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "../array/random.h"
#include "../graph/tensor.h"

namespace xgrad {

/// Options of a gradient check: the defaults for double are PyTorch's, the others are for float.
struct GradcheckOptions {
  double eps = sizeof(Real) == 8 ? 1e-6 : 1e-2;   ///< how far each element is moved, up and down
  double atol = sizeof(Real) == 8 ? 1e-5 : 1e-3;  ///< right is |analytic - numeric| <= atol + rtol |numeric|
  double rtol = sizeof(Real) == 8 ? 1e-3 : 1e-2;
  Seed seed = 0;  ///< of the random gradient of the result
};

/// The report of a gradient check.
struct [[nodiscard]] GradcheckReport {
  /// An input whose gradient is wrong.
  struct Wrong {
    int input = 0;           ///< its number, from 0
    std::string name = {};   ///< empty if it has none
    Shape shape = {};        ///< of the input
    std::int64_t count = 0;  ///< the number of wrong entries of its gradient
    Shape at = {};           ///< the position of the worst one
    double analytic = 0;     ///< the gradient there
    double numeric = 0;      ///< the difference quotient there
  };
  std::string check = {};                ///< "gradcheck" or "gradgradcheck"
  std::int64_t entries = 0;              ///< the number of entries compared
  std::vector<Wrong> wrong = {};         ///< in the order of the inputs
  std::vector<std::string> faults = {};  ///< faults beyond single entries

  bool ok() const { return wrong.empty() && faults.empty(); }
};

/// Checks the gradients of f with respect to the `inputs` that require one. Every entry of the gradient of
/// <v, f(inputs)>, v a random gradient of the result, is compared with
///
///     (<v, f(x + eps e_i)> - <v, f(x - eps e_i)>) / (2 eps)
///
/// Also checks that two backward passes give equal gradients, and that a gradient of zeros gives zeros. Faults are
/// reported, also a backward pass that throws an Error. f must be deterministic; it must not draw random numbers.
///
/// f is called twice for every element, with `inputs` themselves, so they may be parameters of a model that f runs.
/// They are changed in place and restored bit for bit, whatever is thrown. Graphs recorded from them before can no
/// longer be differentiated. Threads: no other may use the inputs during the call.
///
/// Throws ValueError for an empty f, no input that requires a gradient, an eps that is not positive, or a negative
/// tolerance; GraphError for an undefined input, or one that requires a gradient and is no leaf; and whatever f throws.
GradcheckReport gradcheck(const std::function<Tensor(const Tensors&)>& f, const Tensors& inputs,
                          const GradcheckOptions& options = {});

/// The same for second derivatives: checks the gradients of the function that maps `inputs` and a gradient of f(inputs)
/// to the gradients of the inputs. The gradient of the result counts as one more input, called "gy".
GradcheckReport gradgradcheck(const std::function<Tensor(const Tensors&)>& f, const Tensors& inputs,
                              const GradcheckOptions& options = {});

/// The report as text: one line with the counts, then one for each fault.
std::string to_string(const GradcheckReport& report);
std::ostream& operator<<(std::ostream& out, const GradcheckReport& report);

}  // namespace xgrad
