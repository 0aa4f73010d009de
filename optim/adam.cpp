// One pass over a parameter for each step.
#include "adam.h"

#include <cmath>
#include <optional>

#ifdef __SSE2__
#include <xmmintrin.h>
#endif

#include "../core/parallel.h"
#include "options.h"

namespace xgrad::optim {
namespace {

constexpr std::int64_t block = 1 << 14;

// 1 - beta^t, accurate for every t.
double bias_correction(double beta, std::int64_t t) { return -std::expm1(static_cast<double>(t) * std::log(beta)); }

template <class Options>
void check(const char* kind, const Options& options) {
  detail::below_one(kind, "betas[0]", options.betas[0]);
  detail::below_one(kind, "betas[1]", options.betas[1]);
  detail::not_negative(kind, "eps", options.eps);
  detail::not_negative(kind, "weight_decay", options.weight_decay);
}

// The numbers of one step, by value: the compiler cannot tell references to them from the arrays.
struct Coefficients {
  Real old_m, new_m, old_v, new_v;
  Real rate;  // lr / (1 - b1^t)
  Real root;  // 1 / sqrt(1 - b2^t)
  Real eps;
  Real shrink;  // what decoupled weight decay leaves of x
  Real pull;    // times x is what weight decay adds to the gradient
};

// While it lives, numbers too small to be normalised count as 0 in this thread. Moments that fade away would otherwise
// pass through them, at a hundred cycles for every operation.
class FlushTinyNumbers {
 public:
#ifdef __SSE2__
  FlushTinyNumbers() : was_(_mm_getcsr()) { _mm_setcsr(was_ | flush_results | flush_operands); }
  ~FlushTinyNumbers() { _mm_setcsr(was_); }

 private:
  static constexpr unsigned flush_results = 0x8000, flush_operands = 0x0040;
  unsigned was_;
#else
  FlushTinyNumbers() {}
#endif
 public:
  FlushTinyNumbers(const FlushTinyNumbers&) = delete;
  FlushTinyNumbers& operator=(const FlushTinyNumbers&) = delete;
};

// The largest gradient whose square v can hold, with room for what rounding adds.
constexpr Real largest_gradient = sizeof(Real) == sizeof(float) ? Real(0x1p63) : Real(0x1p511);

// m moves towards g by steps of 1 - b1 from where it was, or, if that is more than half the way, from g back by steps
// of b1: m is g then when b1 is 0.
template <bool from_g>
void step_block(Real* __restrict x, const Real* __restrict g, Real* __restrict m, Real* __restrict v,
                std::int64_t count, const Coefficients c) {
  const std::optional<FlushTinyNumbers> flush = c.eps > 0 ? std::make_optional<FlushTinyNumbers>() : std::nullopt;
  for (std::int64_t i = 0; i < count; ++i) {
    const Real wanted = g[i] + c.pull * x[i];
    const Real limited = wanted > largest_gradient    ? largest_gradient
                         : wanted < -largest_gradient ? -largest_gradient
                                                      : wanted;
    const Real gi = limited + 0 * wanted;  // NaN for infinity
    m[i] = from_g ? gi - c.old_m * (gi - m[i]) : m[i] + c.new_m * (gi - m[i]);
    v[i] = c.old_v * v[i] + c.new_v * gi * gi;
    x[i] = c.shrink * x[i] - c.rate * m[i] / (std::sqrt(v[i]) * c.root + c.eps);
  }
}

template <class Options>
Coefficients coefficients(const Options& options, std::int64_t t, double lr, double shrink, double pull) {
  const auto [b1, b2] = options.betas;
  const auto real = [](double value) { return static_cast<Real>(value); };
  return {.old_m = real(b1),
          .new_m = real(1 - b1),
          .old_v = real(b2),
          .new_v = real(1 - b2),
          .rate = real(lr / bias_correction(b1, t)),
          .root = real(1 / std::sqrt(bias_correction(b2, t))),
          .eps = real(options.eps),
          .shrink = real(shrink),
          .pull = real(pull)};
}

void step_array(Array& x, const Array& g, std::vector<Array>& moments, const Coefficients& c) {
  Real* const xs = x.mutable_data();
  const Real* const gs = g.data();
  Real* const ms = moments[0].mutable_data();
  Real* const vs = moments[1].mutable_data();
  const auto step = c.old_m < c.new_m ? step_block<true> : step_block<false>;
  parallel_for(x.size(), block, [&](std::int64_t begin, std::int64_t end) {
    step(xs + begin, gs + begin, ms + begin, vs + begin, end - begin, c);
  });
}

}  // namespace

Adam::Adam(const Tensors& parameters, const Options& options) : Adam(std::vector<Group>{{parameters, options}}) {}

Adam::Adam(const std::vector<Group>& groups) : Optimizer("adam", {{"exp_avg"}, {"exp_avg_sq", false}}) {
  for (const auto& [parameters, options] : groups) {
    check("adam", options);
    options_.push_back(options);
    add_group(parameters, options.lr);
  }
}

void Adam::update(Array& x, const Array& g, Memory& memory, int group, double lr) const {
  const Options& options = options_[static_cast<std::size_t>(group)];
  step_array(x, g, memory.moments, coefficients(options, memory.steps + 1, lr, 1, options.weight_decay));
}

AdamW::AdamW(const Tensors& parameters, const Options& options) : AdamW(std::vector<Group>{{parameters, options}}) {}

AdamW::AdamW(const std::vector<Group>& groups) : Optimizer("adamw", {{"exp_avg"}, {"exp_avg_sq", false}}) {
  for (const auto& [parameters, options] : groups) {
    check("adamw", options);
    options_.push_back(options);
    add_group(parameters, options.lr);
  }
}

void AdamW::update(Array& x, const Array& g, Memory& memory, int group, double lr) const {
  const Options& options = options_[static_cast<std::size_t>(group)];
  step_array(x, g, memory.moments, coefficients(options, memory.steps + 1, lr, 1 - lr * options.weight_decay, 0));
}

}  // namespace xgrad::optim
