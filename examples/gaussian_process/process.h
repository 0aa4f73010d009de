// A Gaussian process: every finite set of places has values that are jointly normal, the more alike the nearer their
// places are. Given observations, every other place has a mean and a deviation.
#pragma once

#include <cmath>
#include <numbers>

#include <xgrad/xgrad.h>

namespace gaussian_process {

using namespace xgrad;

/// The prediction at some places: (m) each.
struct Prediction {
  Tensor mean, deviation;
};

/// The kernel is that of attention pooling (nn::GaussianAttention), where a softmax turns it into weights:
///   k(a, b) = signal^2 exp(-(w (a - b))^2 / 2)
/// The three numbers are learned by their logarithms, which keeps them positive.
struct GaussianProcess : nn::Module {
  const Tensor log_w{param("log_w", {}, nn::init::zeros())};
  const Tensor log_signal{param("log_signal", {}, nn::init::zeros())};
  const Tensor log_noise{param("log_noise", {}, nn::init::zeros())};

  explicit GaussianProcess(nn::At here) : Module(std::move(here)) {}

  Tensor w() const { return exp(log_w); }
  Tensor signal() const { return exp(log_signal); }
  Tensor noise() const { return exp(log_noise); }

  /// Places (n), (m) -> (n, m).
  Tensor kernel(const Tensor& a, const Tensor& b) const {
    return square(signal()) * exp(square((unsqueeze(a, 1) - unsqueeze(b, 0)) * w()) * -0.5);
  }
  /// L with L L' = k(x, x) + noise^2, the covariance of the observations at x.
  Tensor factor(const Tensor& x) const { return linalg::cholesky(kernel(x, x) + square(noise()) * eye(x.dim(0))); }

  /// ln p(y | x) = -y' (L L')^-1 y / 2 - ln det L - n ln(2 pi) / 2, per observation: high where the kernel is as wide
  /// as the data allow and no wider than they demand.
  Tensor log_likelihood(const Tensor& x, const Tensor& y) const {
    const Tensor L = factor(x), z = linalg::solve_triangular(L, y);
    const Tensor log_det = sum(log(diagonal(L)));
    return (sum(square(z)) * -0.5 - log_det) / x.dim(0) - std::log(2 * std::numbers::pi_v<Real>) / 2;
  }

  /// mean = k(wanted, x) (L L')^-1 y,   deviation^2 = k(wanted, wanted) - k(wanted, x) (L L')^-1 k(x, wanted)
  Prediction operator()(const Tensor& wanted, const Tensor& x, const Tensor& y) const {
    const Tensor L = factor(x), across = linalg::solve_triangular(L, kernel(x, wanted));  // (n, m)
    const Tensor left = square(signal()) - sum(square(across), 0);
    return {.mean = matmul(linalg::solve_triangular(L, y), across), .deviation = sqrt(maximum(left, Tensor(0)))};
  }
};

}  // namespace gaussian_process
