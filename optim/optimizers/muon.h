// Muon: an optimizer that orthogonalises the step of every matrix.
#pragma once

#include <array>

#include "optimizer.h"

namespace xgrad::optim {

/// The factor of lr in Muon, for a parameter with m rows and n columns.
enum class MuonRate {
  original,            ///< sqrt(max(1, m / n)) (Jordan et al. 2024)
  match_rms_adamw,     ///< 0.2 sqrt(max(m, n)), which makes learning rates of AdamW suitable (Liu et al. 2025)
  spectral_unclamped,  ///< sqrt(m / n) (Bernstein 2025)
};

struct MuonOptions {
  double lr = 1e-3;
  double weight_decay = 0.1;  ///< lambda in the formula; it is decoupled from the gradient
  double momentum = 0.95;     ///< mu in the formula
  bool nesterov = true;
  std::array<double, 3> ns_coefficients{3.4445, -4.775, 2.0315};  ///< a, b, c in the formula
  double eps = 1e-7;                                              ///< lower bound of the norm |u|
  std::int64_t ns_steps = 5;
  MuonRate adjust_lr_fn = MuonRate::original;
  bool maximize = false;  ///< maximize the loss: use -g in place of g
};

/// Muon (Jordan et al. 2024), for the matrices between the first and the last layer. Use AdamW for biases, norms,
/// embeddings and the head. In each step with gradient g:
///
///     b <- mu b + (1 - mu) g
///     u = mu b + (1 - mu) g with nesterov, b without
///     o = u / |u|, then ns_steps times  o <- a o + (b (o o^T) + c (o o^T)^2) o
///     x <- x - lr lambda x
///     x <- x - lr adjust_lr_fn o
///
/// The Newton-Schulz iteration moves the singular values of u towards 1, with these coefficients to between 0.7 and
/// 1.2. PyTorch rounds its products to bfloat16; here matmul_precision() determines their precision.
///
/// Throws GraphError for a parameter that is no leaf, ShapeError for a parameter that is no matrix, and the errors of
/// all optimizers.
class Muon : public OptimizerOf<Muon, MuonOptions> {
 public:
  using OptimizerOf::OptimizerOf;

 private:
  friend OptimizerOf;
  static constexpr const char* kind = "muon";
  static void check(const Tensor& parameter);
  static NamedOptions named_options(const Options& options);
  static Moments moments(const Options&) { return {{"momentum_buffer"}}; }
  static Array direction(const Array& g, const State& state, const Options& options);
  static void advance(Array& x, const Array& g, State& state, const Options& options, double lr);
};

}  // namespace xgrad::optim
