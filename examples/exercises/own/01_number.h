// Your own engine, 1 of 12: A number that remembers. docs/learn/own_engine.md
//
// A result remembers how it was computed: its inputs, and for each input a rule, which makes the gradient of the input
// from gy, the gradient of the result. For c = a b a small change of a changes c by b times as much, so the rule of a
// gives gy b. A rule runs after the function has returned, so it captures copies, [b], and never [&]. Write
//
//     record   makes a tensor whose node has this name, value and list of inputs
//     add      a + b, element by element, for tables of one shape
//     mul      a b, element by element
//
// A table is a Matrix of examples/exercises/own/matrix.h: Matrix{rows, cols} is one of zeros, x.rows and x.cols are its
// sizes, x.at(i, j) is an element. map(x, f) is f of each element, map(x, y, f) f of each pair of elements.
#pragma once
#include "matrix.h"

struct Node;

struct Tensor {  // a handle: copies refer to the same node
  std::shared_ptr<Node> node;
  Tensor(double value);
  Tensor(const Matrix& value, const std::string& name = "");  // a leaf: given, not computed
  Matrix& value() const;
};

using Tensors = std::vector<Tensor>;
using Rule = std::function<Matrix(const Matrix& gy)>;

struct Input {
  Tensor from;
  Rule rule;
};

struct Node {
  std::string name;
  Matrix value;
  std::vector<Input> inputs;
};

inline Tensor::Tensor(double value) : Tensor(Matrix{1, 1, {value}}) {}
inline Tensor::Tensor(const Matrix& value, const std::string& name) : node(new Node{name, value, {}}) {}
inline Matrix& Tensor::value() const { return node->value; }

inline Matrix times(const Matrix& a, const Matrix& b) {
  return map(a, b, [](double u, double v) { return u * v; });
}

inline Tensor record(const std::string& name, const Matrix& value, const std::vector<Input>& inputs) {
  //< return 0;
  Tensor result(value, name);
  result.node->inputs = inputs;
  return result;
  //>
}

inline Tensor add(const Tensor& a, const Tensor& b) {
  //< return a;
  const Rule same = [](const Matrix& gy) { return gy; };
  const Matrix value = map(a.value(), b.value(), [](double u, double v) { return u + v; });
  return record("add", value, {{a, same}, {b, same}});
  //>
}

inline Tensor mul(const Tensor& a, const Tensor& b) {
  //< return a;
  return record("mul", times(a.value(), b.value()),
                {{a, [b](const Matrix& gy) { return times(gy, b.value()); }},
                 {b, [a](const Matrix& gy) { return times(gy, a.value()); }}});
  //>
}
