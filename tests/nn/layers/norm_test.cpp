// Layer norm, RMS norm, batch norm and group norm.
#include "../support.h"
#include "support/files.h"

#include <limits>
#include <stdexcept>

#include <xgrad/xgrad.h>

namespace xgrad::testing {
namespace {

using namespace nn;

TEST_CASE("Norms of two rows by hand, with an eps of 0") {
  const Tensor x(Array({2, 2}, {1, 2, 2, 3})), triangle(Array({1, 2}, {3, 4}));
  const BatchNorm1d batch{root, 2, {.eps = 0}};
  check_close(batch(x).value(), Array({2, 2}, {-1, -1, 1, 1}));
  const LayerNorm layer{root, 2, {.eps = 0}};
  check_close(layer(x).value(), Array({2, 2}, {-1, 1, -1, 1}));
  const RMSNorm rms{root, 2, {.eps = 0}}, bare{root, 2, {.eps = 0, .affine = false}};
  const Real root_2 = std::sqrt(Real(2));
  rms.weight.assign(Array({2}, {5, 10}));
  check_close(rms(triangle).value(), Array({1, 2}, {3 * root_2, 8 * root_2}));
  check_close(bare(triangle).value(), Array({1, 2}, {Real(0.6) * root_2, Real(0.8) * root_2}));
  CHECK(bare.num_parameters() == 0);
}

TEST_CASE("The number of batches is saved as an integer, and loads as one or as a real number") {
  const TemporaryFolder folder;
  const std::string path = folder / "norm";
  const BatchNorm1d norm{root, 2};
  for (int i = 0; i < 3; ++i) norm(normal({4, 2}));
  save(norm, path);
  CHECK(load_safetensors(path).get<Index>("num_batches_tracked").item() == 3);
  CHECK(read_text(path).find("\"num_batches_tracked\":{\"dtype\":\"I64\",\"shape\":[]") != std::string::npos);
  const BatchNorm1d other{root, 2};
  load(other, path);
  CHECK(other.num_batches_tracked.item() == 3);

  NamedArrays state = norm.state_dict();
  state["num_batches_tracked"] = Array({}, Real(5));
  other.load_state_dict(state);
  CHECK(std::get<Index>(other.state_dict().at("num_batches_tracked")).item() == 5);
  for (const Real bad : {Real(2.5), std::numeric_limits<Real>::infinity(), std::numeric_limits<Real>::quiet_NaN()}) {
    state["num_batches_tracked"] = Array({}, bad);
    CHECK_REFUSED(FormatError, other.load_state_dict(state), "load_state_dict",
                  "\"num_batches_tracked\" holds no integers");
  }
  CHECK(other.num_batches_tracked.item() == 5);
}

TEST_CASE("Running statistics stay as they were when a hook throws, and in evaluation") {
  const BatchNorm1d norm{root, 2};
  norm(normal({4, 2}));
  const NamedArrays before = norm.state_dict();
  const auto unchanged = [&] {
    return equal(norm.running_mean.value(), std::get<Array>(before.at("running_mean"))) &&
           equal(norm.running_var.value(), std::get<Array>(before.at("running_var"))) &&
           norm.num_batches_tracked.item() == 1;
  };
  const auto hook = norm.on_forward([](const ForwardCall&) { throw std::runtime_error("no"); });
  CHECK_THROWS_AS(norm(normal({4, 2}, 2)), std::runtime_error);
  CHECK(unchanged());
  norm.remove_hook(hook);
  {
    const Eval eval(norm);
    norm(normal({4, 2}, 2));
    CHECK(unchanged());
  }
  norm(normal({4, 2}, 2));
  CHECK(!unchanged());
  CHECK(norm.num_batches_tracked.item() == 2);
}

TEST_CASE("Batch norm, its buffers and gradients equal PyTorch's") {
  check_fixtures(
      "batch_norm",
      {{"batch_norm", [](const Case& c) {
          BatchNormOptions options{.eps = 1e-3, .affine = c.flag("affine"), .track_running_stats = c.flag("tracked")};
          options.momentum = c.text("momentum") == "none" ? std::nullopt : std::optional(c.number("momentum"));
          const BatchNorm1d norm(root, 3, options);
          if (c.flag("affine")) {
            norm.weight.assign(c.x(2).value());
            norm.bias.assign(c.x(3).value());
          }
          Tensors results{norm(c.x(0)), norm(c.x(0))};
          for (const Tensor& buffer : norm.buffers()) results.push_back(buffer.detach());
          const Eval eval(norm);
          results.push_back(norm(c.x(1)));
          Results all(results);
          all.leaves = norm.parameters();
          all.leaves.insert(all.leaves.begin(), {c.x(0), c.x(1)});
          return all;
        }}});
}

// What a norm of x(0) with the weight x(1) and the bias x(2), where they are stored, gives in training; of a batch norm
// its statistics and what it gives afterwards as well.
template <class Norm>
Results norm_of(const Case& c, const Norm& norm) {
  if (c.x(1).defined()) {
    norm.weight.assign(c.x(1).value());
    norm.bias.assign(c.x(2).value());
  }
  Tensors results{norm(c.x(0))};
  if constexpr (std::is_base_of_v<BatchNorm, Norm>) {
    results.insert(results.end(), {norm.running_mean.detach(), norm.running_var.detach()});
    const Eval eval(norm);
    results.push_back(norm(c.x(0)));
  }
  Results all(results);
  all.leaves = norm.parameters();
  all.leaves.insert(all.leaves.begin(), c.x(0));
  return all;
}

Results batch_norm_of(const Case& c) {
  return norm_of(c, BatchNorm2d(root, 3, {.eps = 1e-3, .momentum = 0.3, .affine = c.flag("affine")}));
}
Results group_norm_of(const Case& c) {
  return norm_of(c, GroupNorm(root, c.integer("groups"), 6, {.eps = 1e-3, .affine = c.x(1).defined()}));
}

TEST_CASE("Norms of pictures and volumes, and their gradients, equal PyTorch's") {
  check_fixtures("norms", {{"batch_norm2d", batch_norm_of}, {"group_norm", group_norm_of}});
}

TEST_CASE("Norms refuse bad settings and inputs") {
  CHECK_REFUSED(ValueError, LayerNorm(root, Shape{}), "layer_norm", "no axis to normalise over");
  CHECK_REFUSED(ValueError, LayerNorm(root, 2, {.eps = -1}), "layer_norm", "eps -1 is negative or NaN");
  CHECK_THROWS_AS(LayerNorm(root, 3)(Array({2, 2}, Real(0))), ShapeError);
  CHECK_REFUSED(ValueError, RMSNorm(root, Shape{}), "rms_norm", "no axis to normalise over");
  CHECK_REFUSED(ValueError, RMSNorm(root, 2, {.eps = -1}), "rms_norm", "eps -1 is negative or NaN");
  CHECK_THROWS_AS(RMSNorm(root, 2)(Array({2, 3}, Real(0))), ShapeError);
  CHECK_REFUSED(ValueError, BatchNorm2d(root, 2)(zeros({1, 2, 1, 1})), "batch_norm", "needs more than one",
                "[1, 2, 1, 1]");
  CHECK_REFUSED(ValueError, GroupNorm(root, 0, 4), "GroupNorm", "groups 0 is not positive");
  CHECK_REFUSED(ValueError, GroupNorm(root, 3, 4), "group_norm", "4 channels do not divide by 3 groups");
  CHECK_REFUSED(ValueError, GroupNorm(root, 2, 4, {.eps = -1}), "group_norm", "eps -1 is negative or NaN");
  CHECK_REFUSED(ShapeError, BatchNorm2d(root, 2)(zeros({1, 2, 3})), "batch_norm", "needs (B, 2, H, W), got [1, 2, 3]");
  CHECK_REFUSED(ShapeError, GroupNorm(root, 2, 4)(zeros({2, 3})), "group_norm", "needs (B, 4, ...), got [2, 3]");
  CHECK_REFUSED(ValueError, BatchNorm1d(root, 2, {.eps = -1}), "batch_norm", "eps -1 is negative or NaN");
  CHECK_REFUSED(ValueError, BatchNorm1d(root, 2, {.momentum = 1.5}), "BatchNorm1d", "momentum 1.5 is not in [0, 1]");
  const BatchNorm1d norm{root, 2};
  CHECK_REFUSED(ShapeError, norm(Array({4, 3}, Real(0))), "batch_norm", "needs (B, 2) or (B, 2, T), got [4, 3]");
  CHECK_REFUSED(ShapeError, norm(Array({2}, Real(0))), "batch_norm", "needs (B, 2) or (B, 2, T), got [2]");
  CHECK_REFUSED(ValueError, norm(Array({1, 2}, Real(0))), "batch_norm", "got [1, 2]");
  CHECK(norm.num_batches_tracked.item() == 0);
  CHECK(norm(Array({1, 2, 2}, Real(0))).shape() == Shape{1, 2, 2});
  const Eval eval(norm);
  CHECK(norm(Array({1, 2}, Real(0))).shape() == Shape{1, 2});
}

}  // namespace
}  // namespace xgrad::testing
