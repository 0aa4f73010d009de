// Exercise 6: A diagram, drawn before the library draws it. Lesson 4, docs/learn/start/04_scores.md
//
// This program is self-attention with one matrix for queries and keys:
//
//     const Tensor x = variable(randn({3, 4}), "x"), w = variable(randn({4, 4}), "w");
//     const Tensor q = matmul(x, w).named("q");
//     const Tensor k = matmul(x, w).named("k");
//     const Tensor scores = matmul(q, k, {.transpose_b = true}).named("scores");
//     const Tensor largest = max(scores).detach().named("largest");
//     const Tensor shifted = (scores - largest).named("shifted");
//     const Tensor weights = softmax(shifted).named("weights");
//     const Tensor mixed = matmul(weights, x).named("mixed");
//     const Tensor y = (mixed + x).named("y");
//
// List all arrows of the graph of y, each from an input to a result, in any order: "x -> q". If one operation uses
// an input twice, list the arrow twice. After each run diagram.html, beside this file, shows your graph, and the
// recorded one next to it once yours is right.
#include "exercises.h"

using namespace xgrad;

std::vector<std::string> diagram() {
  return {};  // {"x -> q", ...}
}
