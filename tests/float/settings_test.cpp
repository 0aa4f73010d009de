// Settings are double in float, too, and rounded to it where they meet numbers of it: a setting and its nearest float
// give the same bits. Printed settings are those that were set.
#include <sstream>

#include <xgrad/nn/layers/activation_layers.h>
#include <xgrad/ops/ops.h>

#include "support/check.h"

using namespace xgrad;
using namespace xgrad::testing;

TEST_CASE("a setting counts as the float next to it") {
  const Tensor x = Tensor(normal({4, 6}, 1)), y = Tensor(normal({4, 6}, 2));
  const Tensor images = reshape(x, {2, 3, 4});
  const Index classes({4}, {0, 5, 2, 3});
  const std::function<Tensor(double)> all[] = {
      [&](double s) { return elu(x, s); },
      [&](double s) { return celu(x, s); },
      [&](double s) { return hardshrink(x, s); },
      [&](double s) { return softshrink(x, s); },
      [&](double s) { return leaky_relu(x, {.negative_slope = s}); },
      [&](double s) { return hardtanh(x, {.min_val = -s, .max_val = s}); },
      [&](double s) { return clamp(x, {.min = -s, .max = s}); },
      [&](double s) { return nan_to_num(x / 0, {.nan = s, .posinf = s, .neginf = -s}); },
      [&](double s) { return pow(abs(x), s); },
      [&](double s) {
        return pad(x, {{0, 0}, {1, 1}}, s);
      },
      [&](double s) { return var(x, 1, {.correction = s}); },
      [&](double s) { return smooth_l1_loss(x, y, {.beta = s}); },
      [&](double s) { return huber_loss(x, y, {.delta = s}); },
      [&](double s) { return triplet_margin_loss(x, y, x * y, {.margin = s}); },
      [&](double s) { return cross_entropy(x, classes, {.label_smoothing = s}); },
      [&](double s) { return cross_entropy(x, softmax(y), {.label_smoothing = s}); },
      [&](double s) { return layer_norm(x, {}, {}, {.eps = s}); },
      [&](double s) { return rms_norm(x, {}, {.eps = s}); },
      [&](double s) { return batch_norm(images, {}, {}, {.eps = s}).y; },
      [&](double s) {
        return scaled_dot_product_attention(x, y, x, {.dropout = s, .key = RandomKey{.seed = 2}, .scale = s});
      },
  };
  for (std::size_t i = 0; i < std::size(all); ++i) {
    CAPTURE(i);
    for (const double setting : {0.1, 0.3, 0.7}) {
      CHECK(equal(all[i](setting).value(), all[i](static_cast<double>(static_cast<Real>(setting))).value()));
    }
  }
}

TEST_CASE("settings are printed as they were said") {
  std::ostringstream text;
  text << nn::ELU(nn::root, 1e-05) << nn::Hardshrink(nn::root, 0.1);
  CHECK(text.str().find("1e-05") != std::string::npos);
  CHECK(text.str().find("0.1") != std::string::npos);
}
