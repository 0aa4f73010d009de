// Two positions, two heads, every step by its name: multi-head self-attention as one draws it on a board.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include <xgrad/xgrad.h>

namespace two_heads {

using namespace xgrad;

inline constexpr std::int64_t positions = 2;
inline constexpr std::int64_t heads = 2;
inline constexpr std::int64_t width = 4;
inline constexpr std::int64_t d = width / heads;

/// The matrices, each a variable with the name that it has on the board.
struct Weights {
  Tensor q = matrix("W_q", width, width), k = matrix("W_k", width, width), v = matrix("W_v", width, width);
  /// From a position's query, key or value to those of each head.
  Tensors q_head = per_head("W_q"), k_head = per_head("W_k"), v_head = per_head("W_v");
  Tensor o = matrix("W_o", width, width);

 private:
  static Tensor matrix(const std::string& name, std::int64_t rows, std::int64_t columns) {
    return variable((randn({rows, columns}) * Real(0.7)).value(), name);
  }
  static Tensors per_head(const std::string& name) {
    Tensors all;
    for (std::int64_t h = 1; h <= heads; ++h) all.push_back(matrix(str("head ", h, '.', name, "^", h), d, width));
    return all;
  }
};

/// A name as on the board: label("q", 1, 2) is q^{1,2}, position 1, head 2.
template <class... Numbers>
std::string label(const char* letter, std::int64_t first, Numbers... more) {
  std::string text = str(letter, "^{", first);
  ((text += str(",", more)), ...);
  return text + "}";
}

/// The results of one pass, all of them columns: [i][h] is position i + 1, head h + 1.
struct Steps {
  Tensors a;                     ///< inputs a^{i}, (width, 1)
  std::vector<Tensors> q, k, v;  ///< (d, 1)
  std::vector<Tensors> alpha;    ///< alpha^{i,h}: how much i takes from each position, a row (1, positions)
  std::vector<Tensors> head;     ///< b^{i,h}, (d, 1)
  Tensors b;                     ///< outputs b^{i}, (width, 1)
};

/// All steps, column by column, of inputs (positions, width).
inline Steps by_vectors(const Weights& w, const Array& inputs) {
  Steps s;
  const auto grid = [] { return std::vector<Tensors>(positions, Tensors(heads)); };
  Tensors queries, keys, values;  // of each position
  s.q = grid(), s.k = grid(), s.v = grid(), s.alpha = grid(), s.head = grid();
  for (std::int64_t i = 0; i < positions; ++i) {
    const Tensor a = Tensor(inputs[{i}].reshaped({width, 1})).named(label("a", i + 1));
    const Tensor q = matmul(w.q, a).named(label("q", i + 1));
    const Tensor k = matmul(w.k, a).named(label("k", i + 1));
    const Tensor v = matmul(w.v, a).named(label("v", i + 1));
    s.a.push_back(a);
    queries.push_back(q), keys.push_back(k), values.push_back(v);
  }
  for (std::int64_t h = 0; h < heads; ++h) {
    const Scope frame(intern(str("head ", h + 1)));  // around what belongs to it in the diagram
    for (std::int64_t i = 0; i < positions; ++i) {
      s.q[i][h] = matmul(w.q_head[h], queries[i]).named(label("q", i + 1, h + 1));
      s.k[i][h] = matmul(w.k_head[h], keys[i]).named(label("k", i + 1, h + 1));
      s.v[i][h] = matmul(w.v_head[h], values[i]).named(label("v", i + 1, h + 1));
    }
    for (std::int64_t i = 0; i < positions; ++i) {
      Tensors scores, seen;
      for (std::int64_t j = 0; j < positions; ++j) {
        scores.push_back(matmul(s.q[i][h], s.k[j][h], {.transpose_a = true}));
        seen.push_back(s.v[j][h]);
      }
      s.alpha[i][h] = softmax(concat(scores, 1) / std::sqrt(Real(d))).named(label("alpha", i + 1, h + 1));
      s.head[i][h] = matmul(concat(seen, 1), s.alpha[i][h], {.transpose_b = true}).named(label("b", i + 1, h + 1));
    }
  }
  for (std::int64_t i = 0; i < positions; ++i) {
    s.b.push_back(matmul(w.o, concat(s.head[i])).named(label("b", i + 1)));
  }
  return s;
}

/// The same in matrices: the library's layer, whose map to all heads is the product of the two maps on the board.
struct MatrixForm {
  nn::MultiHeadAttention attn{nn::root, width, heads};

  explicit MatrixForm(const Weights& w) {
    attn.load_state_dict({{"q.weight", matmul(concat(w.q_head), w.q).value()},
                          {"k.weight", matmul(concat(w.k_head), w.k).value()},
                          {"v.weight", matmul(concat(w.v_head), w.v).value()},
                          {"o.weight", w.o.value()}});
  }

  /// (positions, width) -> (positions, width)
  Tensor operator()(const Array& inputs) const { return squeeze(attn(unsqueeze(inputs, 0)), {0}); }
};

}  // namespace two_heads
