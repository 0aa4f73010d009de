// Adam and AdamW.
#pragma once

#include <array>

#include "optimizer.h"

namespace xgrad::optim {

/// The options of Adam, and of AdamW, whose weight decay is decoupled from the gradient and not 0.
template <bool decoupled>
struct AdamOptionsOf {
  double lr = 1e-3;
  std::array<double, 2> betas{0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = decoupled ? 0.01 : 0;  ///< lambda
  bool amsgrad = false;                        ///< divide by the largest v so far
  bool maximize = false;                       ///< step up the gradient: -g takes the place of g
};
/// The options of Adam.
using AdamOptions = AdamOptionsOf<false>;
/// The options of AdamW.
using AdamWOptions = AdamOptionsOf<true>;

namespace detail {

/// What states of Adam and AdamW record.
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

/// Kingma and Ba 2015. In step t = 1, 2, ... with gradient g:
///
///     g <- g + lambda x
///     m <- b1 m + (1 - b1) g
///     v <- b2 v + (1 - b2) g^2
///     x <- x - lr / (1 - b1^t) m / (sqrt(v / (1 - b2^t)) + eps)
///
/// With amsgrad (Reddi, Kale, Kumar 2018) the largest v so far takes the place of v in the last line.
///
/// Each parameter counts its own steps t. A finite g beyond 2^63 (double: 2^511), whose square v could not hold, counts
/// as that number in both m and v, so that its step is as long as any other's and it does not stop a parameter for
/// good. A g that is not finite makes x NaN.
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

/// Adam with decoupled weight decay, Loshchilov and Hutter 2019: instead of adding to g it begins with
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
