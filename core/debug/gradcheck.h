// gradcheck: gradients compared with finite differences, to test gradient rules.
//
//     const Tensor x = variable({{1, 2}, {3, 4}}, "x");
//     const GradcheckReport report = gradcheck([](const Tensors& in) { return tanh(in[0]); }, {x});
//     std::cout << report;
//
// Every operation of the library is tested in this way. Test each new operation in this way, too. Use double, that is,
// `xgrad_f64`: differences of float numbers have few correct digits. So `xgrad` needs large steps and tolerances, and
// small mistakes pass.
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
  double eps = sizeof(Real) == 8 ? 1e-6 : 1e-2;   ///< the step of each element, up and down
  double atol = sizeof(Real) == 8 ? 1e-5 : 1e-3;  ///< correct: |analytic - numeric| <= atol + rtol |numeric|
  double rtol = sizeof(Real) == 8 ? 1e-3 : 1e-2;
  Seed seed = 0;  ///< the seed of the random gradient of the result
};

/// The report of a gradient check.
struct [[nodiscard]] GradcheckReport {
  /// An input whose gradient is wrong.
  struct Wrong {
    int input = 0;           ///< the number of the input, from 0
    std::string name = {};   ///< the name of the input; empty if it has none
    Shape shape = {};        ///< the shape of the input
    std::int64_t count = 0;  ///< the number of wrong entries in its gradient
    Shape at = {};           ///< the position of the worst entry
    double analytic = 0;     ///< the gradient at that position
    double numeric = 0;      ///< the difference quotient at that position
  };
  std::string check = {};                ///< "gradcheck" or "gradgradcheck"
  std::int64_t entries = 0;              ///< the number of entries compared
  std::vector<Wrong> wrong = {};         ///< the inputs with wrong gradients, in their order
  std::vector<std::string> faults = {};  ///< other faults, such as an exception in a rule

  bool ok() const { return wrong.empty() && faults.empty(); }
};

/// Checks the gradients of f with respect to the `inputs` that require one. For a random gradient v of the result,
/// every entry of the gradient of <v, f(inputs)> is compared with
///
///     (<v, f(x + eps e_i)> - <v, f(x - eps e_i)>) / (2 eps)
///
/// Also checks that two backward passes give equal gradients, and that a gradient of zeros gives zeros. All faults go
/// into the report, even an Error that a backward pass throws. f must be deterministic; it must not draw random
/// numbers.
///
/// f is called twice for every element, with `inputs` themselves. So the inputs may be parameters of a model that f
/// runs. Their values are changed in place and restored bit for bit, even after an exception. Graphs that were recorded
/// from the inputs before can no longer be differentiated. Threads: no other thread may use the inputs during the call.
///
/// Throws ValueError if f is empty, no input requires a gradient, eps is not positive or a tolerance is negative.
/// Throws GraphError if an input is undefined, or if it requires a gradient but is not a leaf; and whatever f throws.
GradcheckReport gradcheck(const std::function<Tensor(const Tensors&)>& f, const Tensors& inputs,
                          const GradcheckOptions& options = {});

/// Checks second derivatives in the same way: the gradients of the function that maps `inputs` and a gradient of
/// f(inputs) to the gradients of the inputs. The gradient of f(inputs) counts as one more input, called "gy".
GradcheckReport gradgradcheck(const std::function<Tensor(const Tensors&)>& f, const Tensors& inputs,
                              const GradcheckOptions& options = {});

/// The report as text: one line with the counts, then one line for each fault.
std::string to_string(const GradcheckReport& report);
std::ostream& operator<<(std::ostream& out, const GradcheckReport& report);

}  // namespace xgrad
