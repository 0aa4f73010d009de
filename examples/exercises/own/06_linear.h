// Your own engine, 6 of 12: A linear layer. docs/learn/own_engine.md
//
//     Y = X W + b        X (T, in)      W (in, out)      b (1, out)      ->      Y (T, out)
//
// The bias begins at 0, the weights at random numbers: uniform(rows, cols, limit, random) of matrix.h is a table of
// them, from -limit to limit, whose variance is limit^2 / 3. A result is a sum of `in` products. Choose the limit so
// that the results are about as large as the elements of X, however wide X is. The parameters are leaves.
#pragma once
#include "05_matmul.h"

struct Linear {
  Tensor weight, bias;

  Linear(int in, int out, Random& random)
      //< : weight(Matrix{in, out}, "weight"), bias(Matrix{1, out}, "bias") {}
      : weight(uniform(in, out, std::sqrt(3.0 / in), random), "weight"), bias(Matrix{1, out}, "bias") {}
  //>

  Tensor operator()(const Tensor& x) const {
    //< return x;
    return matmul(x, weight) + bias;
    //>
  }

  void collect(Tensors& parameters) const {  // appends the parameters to a list
    //< return;
    parameters.push_back(weight);
    parameters.push_back(bias);
    //>
  }
};
