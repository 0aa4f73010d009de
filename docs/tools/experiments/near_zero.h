// The identity, learnt by a plain block and by a residual one.
#pragma once

#include <vector>

#include <xgrad/xgrad.h>

namespace near_zero {

using namespace xgrad;

constexpr std::int64_t C = 8, hidden = 32;  // widths

enum class Path { plain, residual };

/// f(x) = W_2 relu(W_1 x + b_1) + b_2, or x + f(x)
struct Block : nn::Layer<Block, Path> {
  using Layer::Layer;
  nn::Mlp f{at("f"), {.in = C, .hidden = hidden}};

  Tensor forward(const Tensor& x) const { return options == Path::residual ? x + f(x) : f(x); }
};

/// The error before each step, |y - x|^2 / |x|^2: 1 is that of a block whose result is 0. The points are normal.
inline std::vector<double> fit(Path path, int steps, double scale, Seed seed) {
  manual_seed(seed);
  const Block block{nn::root, path};
  const Tensor x = scale * randn({256, C}), size = mean(square(x));
  const Tensors parameters = block.parameters();
  optim::Adam adam{parameters, {.lr = 1e-3}};
  std::vector<double> errors;
  for (int step = 0; step < steps; ++step) {
    const Tensor error = mse_loss(block(x), x) / size;
    errors.push_back(error.item());
    adam.step(grad(error, parameters));
  }
  return errors;
}

}  // namespace near_zero
