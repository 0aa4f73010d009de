// VisionMlp.
#include "vision_mlp.h"

#include "../../ops/elementwise/elementwise.h"

namespace xgrad::nn {

VisionMlp::VisionMlp(At here, std::int64_t in, std::int64_t hidden, const Options& options)
    : Layer(std::move(here)),
      fc1(at("0"), in, hidden, {.init = options.init, .bias_init = options.bias_init}),
      fc2(at("3"), hidden, in, {.init = options.init, .bias_init = options.bias_init}),
      dropout(at("4"), options.dropout) {}

Tensor VisionMlp::forward(const Tensor& x) const {
  const Tensor h = dropout(gelu(fc1(x)));  // (..., hidden)
  return dropout(fc2(h));
}

std::string VisionMlp::settings() const { return cat(fc1.in, " -> ", fc1.out, " -> ", fc2.out); }

}  // namespace xgrad::nn
