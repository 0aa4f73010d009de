// Your own engine, 3 of 12: Tanh and its rule. docs/learn/own_engine.md
//
// An operation of one input is its value and one rule. Four of them are enough for a GPT:
//
//     y = tanh x    dy/dx = 1 - y^2            y = e^x     dy/dx = y
//     y = ln x      dy/dx = 1 / x              y = x^p     dy/dx = p x^(p - 1)
//
// A rule may hold a copy of a value. It must not hold its own result, a Tensor: a node that owns itself is never freed.
#pragma once
#include "02_walk.h"

inline Tensor tanh(const Tensor& x) {
  //< return x;
  const Matrix y = map(x.value(), [](double a) { return std::tanh(a); });
  return record(
      "tanh", y,
      {{x, [y](const Matrix& gy) { return map(gy, y, [](double g, double b) { return g * (1 - b * b); }); }}});
  //>
}

inline Tensor exp(const Tensor& x) {
  //< return x;
  const Matrix y = map(x.value(), [](double a) { return std::exp(a); });
  return record("exp", y, {{x, [y](const Matrix& gy) { return times(gy, y); }}});
  //>
}

inline Tensor log(const Tensor& x) {
  //< return x;
  const Matrix y = map(x.value(), [](double a) { return std::log(a); });
  return record("log", y,
                {{x, [x](const Matrix& gy) { return map(gy, x.value(), [](double g, double a) { return g / a; }); }}});
  //>
}

inline Tensor power(const Tensor& x, double p) {
  //< return x;
  const Matrix y = map(x.value(), [p](double a) { return std::pow(a, p); });
  return record("power", y, {{x, [x, p](const Matrix& gy) {
                                return map(gy, x.value(),
                                           [p](double g, double a) { return g * p * std::pow(a, p - 1); });
                              }}});
  //>
}
