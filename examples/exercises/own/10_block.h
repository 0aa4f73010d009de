// Your own engine, 10 of 12: A block, and the GPT. docs/learn/own_engine.md
//
//     norm(x) = (x - mean) / sqrt(variance + 1e-5) scale + shift, each row by itself
//     block:    h = x + attention(norm1(x))        y = h + out(tanh(in(norm2(h))))
//     GPT:      x_t = token[id_t] + position[t], through all blocks, a last norm and a map to the logits (T, V)
//
// Mean and variance are those of the C numbers of a row, both divided by C. A token is a number below V; row t of the
// logits has a score for each of the V that may come after token t. A sequence may be shorter than `context`.
//
// rows takes rows of a table: row t of the result is row ids[t]. Its rule adds each row of gy to the row it came from;
// one id may occur twice. Write rows and the operator() of Norm, Block and Gpt.
#pragma once
#include "09_attention.h"

inline Tensor rows(const Tensor& table, const Ids& ids) {
  //< return table;
  const int count = static_cast<int>(ids.size()), dim = table.value().cols;
  Matrix y{count, dim};
  for (int t = 0; t < count; ++t) {
    for (int j = 0; j < dim; ++j) y.at(t, j) = table.value().at(ids[static_cast<std::size_t>(t)], j);
  }
  return record("rows", y, {{table, [table, ids](const Matrix& gy) {
                               Matrix gx{table.value().rows, table.value().cols};
                               for (int t = 0; t < gy.rows; ++t) {
                                 for (int j = 0; j < gy.cols; ++j)
                                   gx.at(ids[static_cast<std::size_t>(t)], j) += gy.at(t, j);
                               }
                               return gx;
                             }}});
  //>
}

struct Norm {
  Tensor scale, shift;
  explicit Norm(int dim)
      : scale(Matrix{1, dim, std::vector<double>(static_cast<std::size_t>(dim), 1)}, "scale"),
        shift(Matrix{1, dim}, "shift") {}

  Tensor operator()(const Tensor& x) const {
    //< return x;
    const int length = x.value().rows, dim = x.value().cols;
    const Tensor centred = x - sum(x, length, 1) / dim;
    const Tensor variance = sum(centred * centred, length, 1) / dim;
    return centred * power(variance + 1e-5, -0.5) * scale + shift;
    //>
  }
  void collect(Tensors& parameters) const {
    parameters.push_back(scale);
    parameters.push_back(shift);
  }
};

struct Block {
  Norm norm1, norm2;
  Attention attention;
  Linear in, out;
  Block(int dim, int heads, Random& random)
      : norm1(dim), norm2(dim), attention(dim, heads, random), in(dim, 4 * dim, random), out(4 * dim, dim, random) {}

  Tensor operator()(const Tensor& x) const {
    //< return x;
    const Tensor h = x + attention(norm1(x));
    return h + out(tanh(in(norm2(h))));
    //>
  }
  void collect(Tensors& parameters) const {
    norm1.collect(parameters), norm2.collect(parameters), attention.collect(parameters);
    in.collect(parameters), out.collect(parameters);
  }
};

struct Gpt {
  int context;  // the longest sequence that it reads
  Tensor token, position;
  std::vector<Block> blocks;
  Norm norm;
  Linear out;
  Gpt(int vocabulary, int context, int dim, int heads, int layers, Random& random)
      : context(context),
        token(uniform(vocabulary, dim, 1, random), "token"),
        position(uniform(context, dim, 1, random), "position"),
        norm(dim),
        out(dim, vocabulary, random) {
    for (int i = 0; i < layers; ++i) blocks.emplace_back(dim, heads, random);
  }

  Tensor operator()(const Ids& ids) const {
    //< return token;
    Ids places;
    for (std::size_t t = 0; t < ids.size(); ++t) places.push_back(static_cast<int>(t));
    Tensor x = rows(token, ids) + rows(position, places);
    for (const Block& block : blocks) x = block(x);
    return out(norm(x));
    //>
  }
  Tensors parameters() const {
    Tensors all{token, position};
    for (const Block& block : blocks) block.collect(all);
    norm.collect(all), out.collect(all);
    return all;
  }
};
