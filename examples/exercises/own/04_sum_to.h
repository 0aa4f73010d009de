// Your own engine, 4 of 12: sum_to for broadcasting. docs/learn/own_engine.md
//
// A row that is added to each row of a table is repeated first. Each copy of an element contributes to the result, so
// the gradient of the element is the sum over its copies: repeating and summing are each other's rule. Write
//
//     sum_to      the table x, summed to this shape: rows and cols are those of x, or 1
//     repeat_to   the way back: a single row, column or number, repeated to this shape
//     repeat, sum the same two as operations with their rules
//
// The operators + - * / below repeat both operands to their common shape, and call add and mul of link 1.
#pragma once
#include "03_tanh.h"

inline Matrix sum_to(const Matrix& x, int rows, int cols) {
  //< return x;
  Matrix y{rows, cols};
  for (int i = 0; i < x.rows; ++i) {
    for (int j = 0; j < x.cols; ++j) y.at(rows > 1 ? i : 0, cols > 1 ? j : 0) += x.at(i, j);
  }
  return y;
  //>
}

inline Matrix repeat_to(const Matrix& x, int rows, int cols) {
  //< return x;
  Matrix y{rows, cols};
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < cols; ++j) y.at(i, j) = x.at(x.rows > 1 ? i : 0, x.cols > 1 ? j : 0);
  }
  return y;
  //>
}

inline Tensor repeat(const Tensor& x, int rows, int cols) {
  if (x.value().rows == rows && x.value().cols == cols) return x;
  //< return x;
  return record("repeat", repeat_to(x.value(), rows, cols),
                {{x, [x](const Matrix& gy) { return sum_to(gy, x.value().rows, x.value().cols); }}});
  //>
}

inline Tensor sum(const Tensor& x, int rows, int cols) {
  //< return x;
  return record("sum", sum_to(x.value(), rows, cols),
                {{x, [x](const Matrix& gy) { return repeat_to(gy, x.value().rows, x.value().cols); }}});
  //>
}

template <class F>
Tensor broadcast(const Tensor& a, const Tensor& b, F f) {
  const int rows = std::max(a.value().rows, b.value().rows), cols = std::max(a.value().cols, b.value().cols);
  return f(repeat(a, rows, cols), repeat(b, rows, cols));
}
inline Tensor operator+(const Tensor& a, const Tensor& b) { return broadcast(a, b, add); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return broadcast(a, b, mul); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return a + -1 * b; }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return a * power(b, -1); }
