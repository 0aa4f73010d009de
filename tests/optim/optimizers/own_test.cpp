// A kind of optimizer of one's own, by OptimizerOf: it has groups, options with ranges, a state and an audit as those
// of the library.
#include "../support.h"

#include <xgrad/ops/elementwise/arithmetic.h>
#include <xgrad/optim/diagnostics/audit.h>

namespace xgrad::testing {
namespace {

using optim::NamedOption;

struct SignOptions {
  double lr = 0.5;
  double momentum = 0.5;
};

/// m <- momentum m + g, x <- x - lr sign(m)
class SignSgd : public optim::OptimizerOf<SignSgd, SignOptions> {
 public:
  using OptimizerOf::OptimizerOf;

 private:
  friend OptimizerOf;
  static constexpr const char* kind = "sign_sgd";
  static NamedOptions named_options(const Options& options) {
    return {{"momentum", options.momentum, NamedOption::below_one}};
  }
  static Moments moments(const Options&) { return {{"sum"}}; }
  static void advance(Array& x, const Array& g, State& state, const Options& options, double lr) {
    Real* const m = state.moments[0].mutable_data();
    for (std::int64_t i = 0; i < x.size(); ++i) {
      m[i] = static_cast<Real>(options.momentum) * m[i] + g.data()[i];
      x.mutable_data()[i] -= static_cast<Real>(lr) * static_cast<Real>((m[i] > 0) - (m[i] < 0));
    }
  }
};

TEST_CASE("an optimizer of one's own makes its steps, in groups with options of their own") {
  const Tensor a = variable(Array({2}, {1, -2}), "a"), b = variable(3, "b");
  SignSgd sign{std::vector<SignSgd::Group>{{{a}, {}}, {{b}, {.lr = 1, .momentum = 0}}}};
  sign.step({Array({2}, {2, -3}), Tensor(-1)});
  CHECK(equal(a.value(), Array({2}, {0.5, -1.5})));
  CHECK(b.item() == 4);
  sign.step({Array({2}, {-1.5, 1}), Tensor(1)});  // sums -0.5 and -0.5
  CHECK(equal(a.value(), Array({2}, {1, -1})));
  CHECK(b.item() == 3);
  CHECK_REFUSED(ValueError, SignSgd({a}, {.momentum = 1}), "sign_sgd", "momentum");
  CHECK_REFUSED(ValueError, SignSgd(Tensors{}), "sign_sgd", "there are no parameters");
  CHECK_REFUSED(ShapeError, sign.step({Tensor(1), Tensor(1)}), "sign_sgd", "gradient of shape []", "'a'");
}

TEST_CASE("the state of an optimizer of one's own is saved, restored, and refused where it does not fit") {
  const Tensor x = variable(Array({2}, {1, -2}), "x"), y = variable(Array({2}, {1, -2}), "x");
  const Array first({2}, {3, -3}), second({2}, {-1, 2});
  SignSgd whole{{x}}, before{{y}}, after{{y}};
  whole.step({first});
  whole.step({second});
  before.step({first});
  const StateFile state = before.state_dict();
  CHECK(state.text("optimizer") == "sign_sgd");
  CHECK(state.text("momentum.0") == "0.5");
  CHECK(equal(state.get<Array>("x.sum"), first));
  after.load_state_dict(state);
  after.step({second});
  CHECK(equal(y.value(), x.value()));
  SignSgd other{{y}, {.momentum = 0.25}};
  CHECK_REFUSED(FormatError, other.load_state_dict(state), "load_state_dict", "momentum");
  CHECK_REFUSED(FormatError, optim::SGD({y}).load_state_dict(state), "load_state_dict", "\"sign_sgd\"", "\"sgd\"");
}

TEST_CASE("an audit knows what an optimizer of one's own trains") {
  const Tensor a = variable(1, "a"), b = variable(2, "b");
  const SignSgd sign{{a}};
  const optim::Audit report = optim::audit(a * b, sign);
  REQUIRE(report.untrained.size() == 1);
  CHECK(report.untrained[0].name == "b");
}

}  // namespace
}  // namespace xgrad::testing
