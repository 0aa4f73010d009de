// One pass over a parameter for each step.
#include "sgd.h"

#include "../core/parallel.h"
#include "options.h"

namespace xgrad::optim {
namespace {

constexpr std::int64_t block = 1 << 14;

// The numbers of one step, by value: the compiler cannot tell references to them from the arrays.
struct Coefficients {
  Real rate, decay;
  Real old_b, new_b;    // b <- old_b b + new_b g
  Real from_g, from_b;  // x <- x - rate (from_g g + from_b b)
};

void plain_block(Real* __restrict x, const Real* __restrict g, std::int64_t count, const Coefficients c) {
  for (std::int64_t i = 0; i < count; ++i) x[i] -= c.rate * (g[i] + c.decay * x[i]);
}

void momentum_block(Real* __restrict x, const Real* __restrict g, Real* __restrict b, std::int64_t count,
                    const Coefficients c) {
  for (std::int64_t i = 0; i < count; ++i) {
    const Real gi = g[i] + c.decay * x[i];
    b[i] = c.old_b * b[i] + c.new_b * gi;
    x[i] -= c.rate * (c.from_g * gi + c.from_b * b[i]);
  }
}

}  // namespace

SGD::SGD(const Tensors& parameters, const Options& options) : SGD(std::vector<Group>{{parameters, options}}) {}

SGD::SGD(const std::vector<Group>& groups) : Optimizer("sgd", {{"momentum_buffer"}}) {
  for (const auto& [parameters, options] : groups) {
    detail::not_negative("sgd", "momentum", options.momentum);
    detail::not_negative("sgd", "dampening", options.dampening);
    detail::not_negative("sgd", "weight_decay", options.weight_decay);
    if (options.nesterov && (options.momentum == 0 || options.dampening != 0)) {
      fail<ValueError>("sgd", "nesterov needs momentum and no dampening, got momentum ", options.momentum,
                       " and dampening ", options.dampening);
    }
    options_.push_back(options);
    add_group(parameters, options.lr);
  }
}

int SGD::moments_of(int group) const { return options_[static_cast<std::size_t>(group)].momentum != 0 ? 1 : 0; }

void SGD::update(Array& x, const Array& g, Memory& memory, int group, double lr) const {
  const Options& options = options_[static_cast<std::size_t>(group)];
  const Coefficients c{.rate = static_cast<Real>(lr),
                       .decay = static_cast<Real>(options.weight_decay),
                       .old_b = static_cast<Real>(options.momentum),
                       .new_b = static_cast<Real>(memory.steps == 0 ? 1 : 1 - options.dampening),
                       .from_g = static_cast<Real>(options.nesterov ? 1 : 0),
                       .from_b = static_cast<Real>(options.nesterov ? options.momentum : 1)};
  Real* const xs = x.mutable_data();
  const Real* const gs = g.data();
  Real* const bs = options.momentum != 0 ? memory.moments[0].mutable_data() : nullptr;
  parallel_for(x.size(), block, [&](std::int64_t begin, std::int64_t end) {
    if (bs) {
      momentum_block(xs + begin, gs + begin, bs + begin, end - begin, c);
    } else {
      plain_block(xs + begin, gs + begin, end - begin, c);
    }
  });
}

}  // namespace xgrad::optim
