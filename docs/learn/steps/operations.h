// The operations of steps 6 to 10: each is its value and one rule per input. The rules are written in these same
// operations, so that they can be differentiated themselves.
#pragma once

#include <algorithm>
#include <cmath>

#include "tensor.h"

// f element by element. A factor with one row or one column is repeated if the other factor has more.
template <class F>
Matrix map(const Matrix& a, const Matrix& b, F f) {
  Matrix y{std::max(a.rows, b.rows), std::max(a.cols, b.cols)};
  for (int i = 0; i < y.rows; ++i) {
    for (int j = 0; j < y.cols; ++j) {
      y.at(i, j) = f(a.at(a.rows > 1 ? i : 0, a.cols > 1 ? j : 0), b.at(b.rows > 1 ? i : 0, b.cols > 1 ? j : 0));
    }
  }
  return y;
}
template <class F>
Matrix map(Matrix x, F f) {
  std::transform(x.v.begin(), x.v.end(), x.v.begin(), f);
  return x;
}

inline Matrix zeros(int rows, int cols) { return {rows, cols}; }
inline Matrix zeros_like(const Tensor& x) { return zeros(x.value().rows, x.value().cols); }

// x, summed to the shape of `like`: the gradient of a repeated matrix is the sum over its copies. Its rule repeats.
inline Tensor sum_to(const Tensor& x, const Matrix& like) {
  const Matrix& from = x.value();
  if (from.rows == like.rows && from.cols == like.cols) return x;
  Matrix y = zeros(like.rows, like.cols);
  for (int i = 0; i < from.rows; ++i) {
    for (int j = 0; j < from.cols; ++j) y.at(y.rows > 1 ? i : 0, y.cols > 1 ? j : 0) += from.at(i, j);
  }
  return {y, {{x, [shape = zeros_like(x)](const Tensor& gy, const Tensor&) { return gy + shape; }}}};
}
inline Tensor sum(const Tensor& x) { return sum_to(x, zeros(1, 1)); }
inline Tensor sum_rows(const Tensor& x) { return sum_to(x, zeros(x.value().rows, 1)); }  // (T, C) -> (T, 1)

inline Tensor operator+(const Tensor& a, const Tensor& b) {
  return {map(a.value(), b.value(), [](double u, double v) { return u + v; }),
          {{a, [a](const Tensor& gy, const Tensor&) { return sum_to(gy, a.value()); }},
           {b, [b](const Tensor& gy, const Tensor&) { return sum_to(gy, b.value()); }}}};
}
inline Tensor operator*(const Tensor& a, const Tensor& b) {
  return {map(a.value(), b.value(), [](double u, double v) { return u * v; }),
          {{a, [a, b](const Tensor& gy, const Tensor&) { return sum_to(gy * b, a.value()); }},
           {b, [a, b](const Tensor& gy, const Tensor&) { return sum_to(gy * a, b.value()); }}}};
}
inline Tensor operator-(const Tensor& a, const Tensor& b) { return a + -1 * b; }
inline Tensor operator/(const Tensor& a, const Tensor& b) {
  return {map(a.value(), b.value(), [](double u, double v) { return u / v; }),
          {{a, [a, b](const Tensor& gy, const Tensor&) { return sum_to(gy / b, a.value()); }},
           {b, [b](const Tensor& gy, const Tensor& y) { return sum_to(-1 * gy * y / b, b.value()); }}}};
}

inline Tensor exp(const Tensor& x) {
  return {map(x.value(), [](double v) { return std::exp(v); }),
          {{x, [](const Tensor& gy, const Tensor& y) { return gy * y; }}}};
}
inline Tensor log(const Tensor& x) {
  return {map(x.value(), [](double v) { return std::log(v); }),
          {{x, [x](const Tensor& gy, const Tensor&) { return gy / x; }}}};
}
inline Tensor sqrt(const Tensor& x) {
  return {map(x.value(), [](double v) { return std::sqrt(v); }),
          {{x, [](const Tensor& gy, const Tensor& y) { return gy / (2 * y); }}}};
}
inline Tensor tanh(const Tensor& x) {
  return {map(x.value(), [](double v) { return std::tanh(v); }),
          {{x, [](const Tensor& gy, const Tensor& y) { return gy * (1 - y * y); }}}};
}

inline Tensor transpose(const Tensor& x) {
  Matrix y = zeros(x.value().cols, x.value().rows);
  for (int i = 0; i < y.rows; ++i) {
    for (int j = 0; j < y.cols; ++j) y.at(i, j) = x.value().at(j, i);
  }
  return {y, {{x, [](const Tensor& gy, const Tensor&) { return transpose(gy); }}}};
}

// y = a b      dL/da = gy b^T      dL/db = a^T gy
inline Tensor matmul(const Tensor& a, const Tensor& b) {
  const Matrix &u = a.value(), &v = b.value();
  Matrix y = zeros(u.rows, v.cols);
  for (int i = 0; i < u.rows; ++i) {
    for (int k = 0; k < u.cols; ++k) {
      const double factor = u.at(i, k), *from = &v.at(k, 0);
      for (double *to = &y.at(i, 0), *end = to + y.cols; to != end; ++to, ++from) *to += factor * *from;
    }
  }
  return {y, {{a, [b](const Tensor& gy, const Tensor&) { return matmul(gy, transpose(b)); }},
              {b, [a](const Tensor& gy, const Tensor&) { return matmul(transpose(a), gy); }}}};
}

// Whether the recorded gradients of f() with respect to xs are those of finite differences, entry by entry.
template <class F>
bool gradients_are_right(const F& f, const Tensors& xs) {
  const Tensors exact = grad(f(), xs);
  double worst = 0;
  for (std::size_t n = 0; n < xs.size(); ++n) {
    for (std::size_t i = 0; i < xs[n].value().v.size(); ++i) {
      double& entry = xs[n].value().v[i];
      const double e = 1e-5, was = entry;
      const double after = (entry = was + e, f().item()), before = (entry = was - e, f().item());
      entry = was;
      worst = std::max(worst, std::abs((after - before) / (2 * e) - exact[n].value().v[i]));
    }
  }
  return worst < 1e-7;
}
