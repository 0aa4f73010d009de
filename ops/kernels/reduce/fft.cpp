// Fourier transforms by kissfft, in double. Its time grows with the largest prime factor of the length; where that is
// large, the transform becomes a convolution of a length that is a power of 2 (Bluestein 1970). A row of even length is
// the transform of half as many complex numbers.
#include "fft.h"

#include <algorithm>
#include <kissfft/kissfft.hh>
#include <numbers>
#include <optional>

#include "../../../core/runtime/parallel.h"

namespace xgrad {
namespace {

using Complex = std::complex<double>;

constexpr std::size_t largest_radix = 64;            // of kissfft
constexpr std::int64_t numbers_at_a_time = 1 << 14;  // that one thread transforms

// e^(i pi numerator/denominator)
Complex on_circle(double numerator, std::size_t denominator) {
  return std::polar(1.0, std::numbers::pi * numerator / static_cast<double>(denominator));
}

std::size_t largest_factor(std::size_t n) {
  std::size_t largest = 1;
  for (std::size_t factor = 2; factor * factor <= n; ++factor) {
    for (; n % factor == 0; n /= factor) largest = factor;
  }
  return std::max(largest, n);
}

// y_k = sum_j x_j e^(-+2 pi i j k/n), with + for the inverse. Copies share nothing.
class Transform {
 public:
  Transform(std::size_t n, bool back) : n_(n), is_convolution_(largest_factor(n) > largest_radix) {
    if (!is_convolution_) {
      plan_.emplace(n, back);
      return;
    }
    // j k = (j^2 + k^2 - (k - j)^2)/2
    std::size_t length = 1;
    while (length < 2 * n - 1) length *= 2;
    plan_.emplace(length, false);
    back_.emplace(length, true);
    chirp_.resize(n);
    for (std::size_t j = 0, square = 0; j < n; square = (square + 2 * j + 1) % (2 * n), ++j) {
      chirp_[j] = on_circle(back ? double(square) : -double(square), n);
    }
    padded_.assign(length, 0);
    for (std::size_t j = 0; j < n; ++j) {
      padded_[j] = std::conj(chirp_[j]) / static_cast<double>(length);
      if (j > 0) padded_[length - j] = padded_[j];
    }
    filter_.resize(length);
    plan_->transform(padded_.data(), filter_.data());
    product_.resize(length);
  }

  void operator()(const Complex* x, Complex* y) {
    if (!is_convolution_) return plan_->transform(x, y);
    std::fill(padded_.begin(), padded_.end(), Complex());
    for (std::size_t j = 0; j < n_; ++j) padded_[j] = x[j] * chirp_[j];
    plan_->transform(padded_.data(), product_.data());
    for (std::size_t k = 0; k < product_.size(); ++k) product_[k] *= filter_[k];
    back_->transform(product_.data(), padded_.data());
    for (std::size_t k = 0; k < n_; ++k) y[k] = padded_[k] * chirp_[k];
  }

 private:
  std::size_t n_;
  bool is_convolution_;
  std::optional<kissfft<double>> plan_, back_;
  std::vector<Complex> chirp_, filter_, padded_, product_;
};

// The plan and buffers of one thread for transforms of rows of n real numbers.
class RowTransform {
 public:
  RowTransform(std::size_t n, bool back)
      : n_(n), half_(n % 2 == 0 ? n / 2 : n), transform_(half_, back), in_(half_), out_(half_) {
    if (n % 2 == 1) return;
    for (std::size_t k = 0; k <= half_; ++k) turns_.push_back(on_circle(back ? double(k) : -double(k), half_));
  }

  void forth(const Real* x, Real* y, double scale) {
    if (n_ % 2 == 1) {
      for (std::size_t j = 0; j < n_; ++j) in_[j] = x[j];
      transform_(in_.data(), out_.data());
      for (std::size_t k = 0; k <= n_ / 2; ++k) write(scale * out_[k], y + 2 * k);
      return;
    }
    for (std::size_t j = 0; j < half_; ++j) in_[j] = {x[2 * j], x[2 * j + 1]};
    transform_(in_.data(), out_.data());
    for (std::size_t k = 0; k <= half_; ++k) {
      const Complex at = out_[k % half_], mirrored = std::conj(out_[(half_ - k) % half_]);
      const Complex even = at + mirrored, odd = (at - mirrored) * Complex(0, -1);
      write(0.5 * scale * (even + turns_[k] * odd), y + 2 * k);
    }
    y[1] = y[2 * half_ + 1] = 0;
  }

  void back(const Real* c, Real* x, double scale) {
    const auto at = [c](std::size_t k) { return Complex(c[2 * k], c[2 * k + 1]); };
    if (n_ % 2 == 1) {
      in_[0] = c[0];
      for (std::size_t k = 1; k <= n_ / 2; ++k) in_[n_ - k] = std::conj(in_[k] = at(k));
      transform_(in_.data(), out_.data());
      for (std::size_t j = 0; j < n_; ++j) x[j] = static_cast<Real>(scale * out_[j].real());
      return;
    }
    const double first = c[0], last = c[2 * half_];
    in_[0] = {first + last, first - last};
    for (std::size_t k = 1; k < half_; ++k) {
      const Complex mirrored = std::conj(at(half_ - k));
      in_[k] = at(k) + mirrored + (at(k) - mirrored) * turns_[k] * Complex(0, 1);
    }
    transform_(in_.data(), out_.data());
    for (std::size_t j = 0; j < half_; ++j) write(scale * out_[j], x + 2 * j);
  }

 private:
  static void write(const Complex& value, Real* to) {
    to[0] = static_cast<Real>(value.real());
    to[1] = static_cast<Real>(value.imag());
  }

  std::size_t n_, half_;
  Transform transform_;
  std::vector<Complex> in_, out_, turns_;
};

template <class F>
void for_rows(std::int64_t rows, std::int64_t n, bool back, const F& f) {
  if (rows == 0) return;
  const RowTransform prepared(static_cast<std::size_t>(n), back);
  const std::int64_t grain = std::max<std::int64_t>(1, numbers_at_a_time / n);
  parallel_for(rows, grain, [&](std::int64_t begin, std::int64_t end) {
    RowTransform own = prepared;
    for (std::int64_t row = begin; row < end; ++row) f(own, row);
  });
}

}  // namespace

void transform_rows(std::int64_t rows, std::int64_t n, Real scale, const Real* x, Real* y) {
  const std::int64_t results = 2 * (n / 2 + 1);
  for_rows(rows, n, false, [=](RowTransform& of_row, std::int64_t row) {
    of_row.forth(x + row * n, y + row * results, double(scale));
  });
}

void transform_rows_back(std::int64_t rows, std::int64_t n, Real scale, const Real* c, Real* x) {
  const std::int64_t inputs = 2 * (n / 2 + 1);
  for_rows(rows, n, true,
           [=](RowTransform& of_row, std::int64_t row) { of_row.back(c + row * inputs, x + row * n, double(scale)); });
}

}  // namespace xgrad
