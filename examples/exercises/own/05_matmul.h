// Your own engine, 5 of 12: The rule of matmul. docs/learn/own_engine.md
//
//     Y = A B        Y_ij = sum_k A_ik B_kj        (n, k) (k, m) -> (n, m)
//
// A_ik takes part in all of row i of Y, times B_kj. So its gradient is sum_j gy_ij B_kj. Find the rule of A as a
// product of tables from this, and that of B in the same way; the shapes leave one way each. Write
//
//     flipped     the transpose of a table
//     product     A B of two tables
//     transpose, matmul   the same two as operations with their rules
#pragma once
#include "04_sum_to.h"

inline Matrix flipped(const Matrix& x) {
  //< return x;
  Matrix y{x.cols, x.rows};
  for (int i = 0; i < x.rows; ++i) {
    for (int j = 0; j < x.cols; ++j) y.at(j, i) = x.at(i, j);
  }
  return y;
  //>
}

inline Matrix product(const Matrix& a, const Matrix& b) {
  //< return a;
  Matrix y{a.rows, b.cols};
  for (int i = 0; i < a.rows; ++i) {
    for (int k = 0; k < a.cols; ++k) {
      for (int j = 0; j < b.cols; ++j) y.at(i, j) += a.at(i, k) * b.at(k, j);
    }
  }
  return y;
  //>
}

inline Tensor transpose(const Tensor& x) {
  //< return x;
  return record("transpose", flipped(x.value()), {{x, flipped}});
  //>
}

inline Tensor matmul(const Tensor& a, const Tensor& b) {
  //< return a;
  return record("matmul", product(a.value(), b.value()),
                {{a, [b](const Matrix& gy) { return product(gy, flipped(b.value())); }},
                 {b, [a](const Matrix& gy) { return product(flipped(a.value()), gy); }}});
  //>
}
