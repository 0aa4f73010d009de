// Step 1: a number that remembers.
//
// A Number holds a double, the numbers from which it was computed, and the slope for each of them. This is enough for
// derivatives: slopes along a path are multiplied, and the products of different paths are added.
#include <cmath>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

struct Node;

struct Number {  // a handle: copies refer to the same number
  std::shared_ptr<Node> node;
  Number(double value);
  Number(double value, std::vector<struct Edge> inputs);
  double value() const;
};

struct Edge {  // from a result to one of its parts
  Number to;
  double slope;
};

struct Node {
  double value;
  std::vector<Edge> inputs;  // none: the number was given, not computed
};

Number::Number(double value) : node(new Node{value, {}}) {}
Number::Number(double value, std::vector<Edge> inputs) : node(new Node{value, std::move(inputs)}) {}
double Number::value() const { return node->value; }

Number operator+(const Number& a, const Number& b) { return {a.value() + b.value(), {{a, 1}, {b, 1}}}; }
Number operator*(const Number& a, const Number& b) { return {a.value() * b.value(), {{a, b.value()}, {b, a.value()}}}; }

long paths = 0;

// dy/dx, the sum over all paths from y to x.
double derivative(const Number& y, const Number& x) {
  if (y.node == x.node) return ++paths, 1;
  double sum = 0;
  for (const Edge& part : y.node->inputs) sum += part.slope * derivative(part.to, x);
  return sum;
}

Number f(const Number& x) {
  const Number square = x * x;
  return square * square + 3 * x;  // x^4 + 3 x
}

int main() {
  const Number x = 2;
  const Number y = f(x);
  const double exact = derivative(y, x);
  std::printf("y = x^4 + 3 x at x = 2: y = %g, dy/dx = %g, along %ld paths\n", y.value(), exact, paths);

  const double e = 1e-5, difference = (f(2 + e).value() - f(2 - e).value()) / (2 * e);
  std::printf("and by a finite difference: %.4f\n", difference);

  Number power = x;  // x^(2^20)
  for (int i = 0; i < 20; ++i) power = power * power;
  paths = 0;
  derivative(power, x);
  std::printf("x squared 20 times: 20 products, %ld paths\n", paths);
  return std::abs(exact - difference) < 1e-6 && exact == 4 * 8 + 3 ? 0 : 1;
}
