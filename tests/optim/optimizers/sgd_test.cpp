// Stochastic gradient descent. Expected numbers are PyTorch's for the same steps, in double.
#include "../support.h"

#include <memory>

namespace xgrad::testing {
namespace {

Array sgd(const optim::SgdOptions& options) {
  return after_three_steps([&](const Tensors& xs) { return std::make_unique<optim::SGD>(xs, options); });
}

TEST_CASE("SGD makes PyTorch's steps") {
  check_close(sgd({.lr = 0.1}), Array({3}, {0.9374999999999999, -2.0250000000000004, 3.1998999999999995}));
  check_close(sgd({.lr = 0.1, .weight_decay = 0.2}), Array({3}, {0.8811720000000001, -1.911324, 3.023396}));
  check_close(sgd({.lr = 0.1, .momentum = 0.9, .dampening = 0.3, .weight_decay = 0.2}),
              Array({3}, {0.74935128, -1.59888276, 2.7159790399999997}));
  check_close(sgd({.lr = 0.1, .momentum = 0.9, .weight_decay = 0.2, .nesterov = true}),
              Array({3}, {0.640544148, -1.609969116, 2.941358264}));
}

TEST_CASE("SGD refuses options outside their range") {
  const auto refusal = [](const optim::SgdOptions& options) { return error_of<ValueError>([&] { sgd(options); }); };
  CHECK(refusal({.lr = -1}) == "sgd: lr -1 is negative or not finite");
  CHECK(refusal({.momentum = -0.5}) == "sgd: momentum -0.5 is negative or not finite");
  CHECK(refusal({.weight_decay = -1}) == "sgd: weight_decay -1 is negative or not finite");
  CHECK(refusal({.nesterov = true}) == "sgd: nesterov needs momentum and no dampening, got momentum 0 and dampening 0");
}

}  // namespace
}  // namespace xgrad::testing
