// The moving average of weights: the scope that swaps it in, errors. Its numbers are held against PyTorch's in
// optimizer_fixtures_test.cpp; that it goes on from a file in optimizer_test.cpp.
#include "../support.h"
#include "support/files.h"

#include <cmath>
#include <limits>
#include <stdexcept>

#include <xgrad/xgrad.h>

namespace xgrad::testing {
namespace {

TEST_CASE("Averages stand in for the weights while a scope lives, whatever happens in it") {
  const Tensor w = variable(Array({2}, {-9, 9}), "w");
  optim::ExponentialMovingAverage average{{w}, {.decay = 0.5}};
  CHECK(equal(average.averages()[0], Array({2}, {-9, 9})));
  w.assign(Array({2}, {1, 2}));
  average.update();  // the first takes the weights as they are
  CHECK(equal(average.averages()[0], Array({2}, {1, 2})));
  w.assign(Array({2}, {3, 6}));
  average.update();
  const Array mine = w.value();
  {
    const optim::AveragedWeights averaged(average);
    CHECK(equal(w.value(), Array({2}, {2, 4})));
    CHECK_REFUSED(GraphError, average.update(), "moving_average", "the parameters have the averages now");
    CHECK_REFUSED(GraphError, optim::AveragedWeights again(average), "moving_average",
                  "the parameters have the averages already");
    optim::SGD sgd{{w}, {.lr = 1}};
    sgd.step({Array({2}, {7, 7})});
  }
  CHECK(w.value().data() == mine.data());
  CHECK(equal(average.averages()[0], Array({2}, {2, 4})));
  try {
    const optim::AveragedWeights averaged(average);
    throw std::runtime_error("in validation");
  } catch (const std::runtime_error&) {
  }
  CHECK(equal(w.value(), mine));
  CHECK(average.updates() == 2);
}

TEST_CASE("A moving average refuses bad settings, weights that are not finite and states that do not fit") {
  const Tensor w = variable(Array({2}, {1, 2}), "w");
  const auto made = [&](const Tensors& parameters, double decay) {
    optim::ExponentialMovingAverage(parameters, {.decay = decay});
  };
  CHECK_REFUSED(ValueError, made({w}, -0.1), "moving_average", "decay -0.1 is not in [0, 1]");
  CHECK_REFUSED(ValueError, made({w}, 1.1), "moving_average", "decay 1.1 is not in [0, 1]");
  CHECK_REFUSED(ValueError, made({w}, std::nan("")), "moving_average", "decay nan is not in [0, 1]");
  CHECK_REFUSED(ValueError, made({}, 0.5), "moving_average", "there are no parameters");
  CHECK_REFUSED(ValueError, made({w, w}, 0.5), "moving_average", "duplicate parameter 'w'");
  CHECK_REFUSED(GraphError, made({w * 2}, 0.5), "moving_average", "only leaves can be parameters", "mul");

  optim::ExponentialMovingAverage average{{w}};
  average.update();
  for (const Real bad : {std::numeric_limits<Real>::infinity(), std::numeric_limits<Real>::quiet_NaN()}) {
    w.assign(Array({2}, {1, bad}));
    CHECK_REFUSED(NumericError, average.update(), "moving_average", "'w' is not finite");
  }
  CHECK(equal(average.averages()[0], Array({2}, {1, 2})));
  w.mutable_value() = Array({3}, Real(0));
  CHECK_REFUSED(ShapeError, average.update(), "moving_average", "'w' had shape [2] and now has [3]");
  CHECK_REFUSED(ShapeError, optim::AveragedWeights averaged(average), "moving_average",
                "'w' had shape [2] and now has [3]");

  const StateFile good = average.state_dict();
  const auto refusal = [&](const auto& spoil) { return refusal_of(average, good, spoil); };
  CHECK(refusal([](StateFile& s) {
          s.arrays.erase("average.w");
          s.arrays["average.v"] = Array({2}, Real(0));
        }) ==
        "load_state_dict: the state does not fit\n  missing:\n    \"average.w\"\n  unexpected:\n    \"average.v\"");
  CHECK(refusal([](StateFile& s) { s.arrays["average.w"] = Array({3}, Real(0)); }) ==
        "load_state_dict: the state does not fit\n  mismatched:\n    \"average.w\" [3] for [2]");
  CHECK(refusal([](StateFile& s) { s.arrays["average.w"] = Index({2}, 1); }) ==
        "load_state_dict: the state does not fit\n  mismatched:\n    \"average.w\" holds another kind of numbers");
  CHECK(refusal([](StateFile& s) { s.arrays["average.w"] = Array({2}, std::numeric_limits<Real>::infinity()); }) ==
        "load_state_dict: the state does not fit\n  mismatched:\n    \"average.w\" holds a number that is not finite");
  CHECK(refusal([](StateFile& s) { s.arrays["updates"] = Index({}, -1); }) ==
        "load_state_dict: a moving average cannot have made -1 steps");
  CHECK(average.updates() == 1);
}

TEST_CASE("Counts among the averaged buffers are copied, and a file of averages loads") {
  const TemporaryFolder folder;
  struct Net : nn::Module {
    nn::Linear map{at("map"), 3, 2};
    nn::BatchNorm1d norm{at("norm"), 2};
    Tensor operator()(const Tensor& x) const { return norm(map(x)); }
  } net, other;
  Tensors all = net.parameters();
  for (const Tensor& buffer : net.buffers()) all.push_back(buffer);
  optim::ExponentialMovingAverage average{all, {.decay = 0.9}};
  for (int t = 0; t < 3; ++t) {
    net(normal({5, 3}, 30 + static_cast<std::uint64_t>(t)));
    average.update();
  }
  {
    const optim::AveragedWeights averaged(average);
    const NamedArrays state = net.state_dict();
    CHECK(std::get<Index>(state.at("norm.num_batches_tracked")).item() == 3);
    CHECK(!equal(std::get<Array>(state.at("norm.running_mean")), average.averages()[0]));
    save(net, folder / "averaged.safetensors");
  }
  load(other, folder / "averaged.safetensors");
  CHECK(other.norm.num_batches_tracked.item() == 3);
}

}  // namespace
}  // namespace xgrad::testing
