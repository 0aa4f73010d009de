// Adam and AdamW: optimizers with running averages of gradients and of their squares.
#pragma once

#include <array>

#include "optimizer.h"

namespace xgrad::optim {

/// The options of Adam and AdamW. With AdamW (decoupled) weight_decay is 0.01 by default.
template <bool decoupled>
struct AdamOptionsOf {
  double lr = 1e-3;
  std::array<double, 2> betas{0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = decoupled ? 0.01 : 0;  ///< lambda in the formula
  bool amsgrad = false;                        ///< divide by the largest v so far
  bool maximize = false;                       ///< maximize the loss: use -g in place of g
};
/// The options of Adam.
using AdamOptions = AdamOptionsOf<false>;
/// The options of AdamW.
using AdamWOptions = AdamOptionsOf<true>;

namespace detail {

/// The options that a state of Adam or AdamW records.
template <class Options>
std::vector<NamedOption> adam_named_options(const Options& options) {
  return {{"betas[0]", options.betas[0], NamedOption::below_one},
          {"betas[1]", options.betas[1], NamedOption::below_one},
          {"eps", options.eps, NamedOption::not_negative},
          {"weight_decay", options.weight_decay, NamedOption::not_negative},
          {"maximize", double(options.maximize)},
          {"amsgrad", double(options.amsgrad)}};
}
template <class Moments, class Options>
Moments adam_moments(const Options& options) {
  Moments moments{{"exp_avg"}, {"exp_avg_sq", false}};
  if (options.amsgrad) moments.push_back({"max_exp_avg_sq", false});
  return moments;
}

}  // namespace detail

/// Adam (Kingma, Ba 2015). In step t = 1, 2, ... with gradient g:
///
///     g <- g + lambda x
///     m <- b1 m + (1 - b1) g
///     v <- b2 v + (1 - b2) g^2
///     x <- x - lr / (1 - b1^t) m / (sqrt(v / (1 - b2^t)) + eps)
///
/// With amsgrad (Reddi, Kale, Kumar 2018), the largest v so far replaces v in the last line.
///
/// Each parameter counts its own steps t. If a finite |g| exceeds 2^63 (double: 2^511), its square would overflow, so
/// this bound replaces |g| in m and v. The step then has the usual length, and the parameter can still be trained
/// afterwards. A g that is not finite makes x NaN.
class Adam : public OptimizerOf<Adam, AdamOptions> {
 public:
  using OptimizerOf::OptimizerOf;

 private:
  friend OptimizerOf;
  static constexpr const char* kind = "adam";
  static NamedOptions named_options(const Options& options) { return detail::adam_named_options(options); }
  static Moments moments(const Options& options) { return detail::adam_moments<Moments>(options); }
  static void advance(Array& x, const Array& g, State& state, const Options& options, double lr);
};

/// AdamW, Adam with decoupled weight decay (Loshchilov, Hutter 2019). Lambda is not added to g; instead, each step
/// first shrinks x:
///
///     x <- x - lr lambda x
class AdamW : public OptimizerOf<AdamW, AdamWOptions> {
 public:
  using OptimizerOf::OptimizerOf;

 private:
  friend OptimizerOf;
  static constexpr const char* kind = "adamw";
  static NamedOptions named_options(const Options& options) { return detail::adam_named_options(options); }
  static Moments moments(const Options& options) { return detail::adam_moments<Moments>(options); }
  static void advance(Array& x, const Array& g, State& state, const Options& options, double lr);
};

}  // namespace xgrad::optim
