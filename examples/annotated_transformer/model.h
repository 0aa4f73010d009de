// The transformer in nine blocks, written from matrix products, softmax, and the library's Linear, Embedding, LayerNorm
// and Dropout. docs/learn/annotated_transformer.md explains it line by line; the tenth block is in training.h.
//
// B sentences in a batch, S words of the source, T words of the target, C elements for each word, H heads of width
// d = C / H, V words in a vocabulary.
#pragma once

#include <cmath>
#include <vector>

#include <xgrad/xgrad.h>

namespace annotated {

using namespace xgrad;

struct Options {
  std::int64_t source_words = 0, target_words = 0;  // the sizes of both vocabularies
  std::int64_t dim = 32;                            // C
  std::int64_t ffn = 64;
  std::int64_t heads = 4;   // H
  std::int64_t layers = 2;  // blocks in each of encoder and decoder
  double dropout = 0.1;
};

// -- 1. Scores --------------------------------------------------------------------------------------------------------

/// true where a key is padding: lengths (B) -> (B, 1, 1, S)
inline Mask padding(const Index& lengths, std::int64_t S) { return arange(S) >= reshape(lengths, {-1, 1, 1, 1}); }

/// true where a key comes later than the query; the queries are at positions first ... first + T - 1: (T, first + T)
inline Mask later(std::int64_t first, std::int64_t T) {
  return arange(first + T) > reshape(arange(first, first + T), {T, 1});
}

/// How much each query takes from each key: q (B, H, T, d), k (B, H, S, d) -> (B, H, T, S), rows that sum to 1
inline Tensor attention_weights(const Tensor& q, const Tensor& k, const Mask& masked) {
  const Tensor scores = matmul(q, k, {.transpose_b = true}) / std::sqrt(q.dim(-1));
  return softmax(masked_fill(scores, masked, -infinity));
}

// -- 2. Heads ---------------------------------------------------------------------------------------------------------

/// The keys and values that queries attend to.
struct KeysValues {
  Tensor k, v;  // (B, H, S, d)
};

struct Attention : nn::Layer<Attention, Options> {
  using Layer::Layer;
  nn::Linear q{at("q"), options.dim, options.dim, {.bias = false}};
  nn::Linear k{at("k"), options.dim, options.dim, {.bias = false}};
  nn::Linear v{at("v"), options.dim, options.dim, {.bias = false}};
  nn::Linear o{at("o"), options.dim, options.dim, {.bias = false}};
  nn::Dropout dropout{at("dropout"), options.dropout};

  Tensor split_heads(const Tensor& x) const {  // (B, T, C) -> (B, H, T, d)
    return permute(reshape(x, {x.dim(0), x.dim(1), options.heads, options.dim / options.heads}), {0, 2, 1, 3});
  }

  KeysValues remember(const Tensor& x) const {
    const auto here = enter(x);
    return {split_heads(k(x)), split_heads(v(x))};
  }

  Tensor forward(const Tensor& x, const KeysValues& seen, const Mask& masked) const {
    const Tensor weights = attention_weights(split_heads(q(x)), seen.k, masked);  // (B, H, T, S)
    nn::show_attention_weights(*this, [&] { return weights.value(); });           // for a recorder, to draw
    const Tensor heads = matmul(dropout(weights), seen.v);                        // (B, H, T, d)
    return o(reshape(permute(heads, {0, 2, 1, 3}), x.shape()));                   // (B, T, C)
  }
};

// -- 3. Positions -----------------------------------------------------------------------------------------------------

/// sin and cos of positions first ... first + T - 1 by turns, each pair slower than the one before: (T, C)
inline Tensor sinusoids(std::int64_t first, std::int64_t T, std::int64_t C) {
  const Tensor position = reshape(to_real(arange(first, first + T)), {T, 1});
  const Tensor wavelength = pow(10000, to_real(arange(0, C, 2)) / C);  // (C / 2)
  const Tensor angle = position / wavelength;                          // (T, C / 2)
  return reshape(stack({sin(angle), cos(angle)}, 2), {T, C});
}

struct Positions : nn::Layer<Positions, Options> {
  using Layer::Layer;
  nn::Dropout dropout{at("dropout"), options.dropout};

  Tensor forward(const Tensor& x, std::int64_t first) const {  // (B, T, C)
    const double scale = std::sqrt(options.dim);
    return dropout(x * scale + sinusoids(first, x.dim(1), options.dim).named("positions"));
  }
};

// -- 4. Feed-forward --------------------------------------------------------------------------------------------------

struct FeedForward : nn::Layer<FeedForward, Options> {
  using Layer::Layer;
  nn::Linear fc1{at("fc1"), options.dim, options.ffn};
  nn::Linear fc2{at("fc2"), options.ffn, options.dim};

  Tensor forward(const Tensor& x) const { return fc2(relu(fc1(x))); }  // (B, T, C)
};

// -- 5. Residual and norm ---------------------------------------------------------------------------------------------

struct AddNorm : nn::Layer<AddNorm, Options> {
  using Layer::Layer;
  nn::LayerNorm norm{at("norm"), options.dim};
  nn::Dropout dropout{at("dropout"), options.dropout};

  Tensor forward(const Tensor& x, const Tensor& fx) const { return norm(x + dropout(fx)); }  // (B, T, C)
};

// -- 6. Encoder -------------------------------------------------------------------------------------------------------

struct EncoderBlock : nn::Layer<EncoderBlock, Options> {
  using Layer::Layer;
  Attention attn{at("attn"), options};
  AddNorm add_norm1{at("add_norm1"), options};
  FeedForward ffn{at("ffn"), options};
  AddNorm add_norm2{at("add_norm2"), options};

  Tensor forward(const Tensor& x, const Mask& padded) const {  // (B, S, C)
    const Tensor h = add_norm1(x, attn(x, attn.remember(x), padded));
    return add_norm2(h, ffn(h));
  }
};

struct Encoder : nn::Layer<Encoder, Options> {
  using Layer::Layer;
  nn::Embedding embedding{at("embedding"), options.source_words, options.dim};
  Positions positions{at("positions"), options};
  nn::Stack<EncoderBlock> blocks{at("blocks"), options.layers, options};

  Tensor forward(const Index& ids, const Mask& padded) const {  // (B, S) -> (B, S, C)
    return blocks(positions(embedding(ids), 0), padded);
  }
};

// -- 7. Decoder block -------------------------------------------------------------------------------------------------

struct DecoderBlock : nn::Layer<DecoderBlock, Options> {
  using Layer::Layer;
  Attention self_attn{at("self_attn"), options};
  AddNorm add_norm1{at("add_norm1"), options};
  Attention cross_attn{at("cross_attn"), options};
  AddNorm add_norm2{at("add_norm2"), options};
  FeedForward ffn{at("ffn"), options};
  AddNorm add_norm3{at("add_norm3"), options};

  Tensor forward(const Tensor& x, const KeysValues& written, const Mask& causal, const KeysValues& source,
                 const Mask& padded) const {  // (B, T, C)
    const Tensor g = add_norm1(x, self_attn(x, written, causal));
    const Tensor h = add_norm2(g, cross_attn(g, source, padded));
    return add_norm3(h, ffn(h));
  }
};

// -- 8. Cache ---------------------------------------------------------------------------------------------------------

/// The keys and values that a decoder keeps while it writes.
struct Cache {
  std::vector<KeysValues> written;  // for each block, from the words so far
  std::vector<KeysValues> source;   // for each block, from the encoder's result
  Mask padded;
  std::int64_t length = 0;  // the number of words so far
};

struct Decoder : nn::Layer<Decoder, Options> {
  using Layer::Layer;
  nn::Embedding embedding{at("embedding"), options.target_words, options.dim};
  Positions positions{at("positions"), options};
  nn::Stack<DecoderBlock> blocks{at("blocks"), options.layers, options};
  nn::Linear out{at("out"), options.dim, options.target_words};

  Cache start(const Tensor& encoded, const Mask& padded) const {
    Cache cache{.written = std::vector<KeysValues>(options.layers), .source = {}, .padded = padded};
    for (const DecoderBlock& block : blocks) cache.source.push_back(block.cross_attn.remember(encoded));
    return cache;
  }

  /// The next T words, ids (B, T) -> logits of the word after each, (B, T, V). The cache grows by T.
  Tensor step(const Index& ids, Cache& cache) const {
    const auto here = enter(ids);
    const Mask causal = later(cache.length, ids.dim(1));
    Tensor h = positions(embedding(ids), cache.length);
    for (std::int64_t i = 0; i < blocks.size(); ++i) {
      const KeysValues next = blocks[i].self_attn.remember(h);
      KeysValues& written = cache.written[i];
      written = cache.length == 0 ? next : KeysValues{concat({written.k, next.k}, 2), concat({written.v, next.v}, 2)};
      h = blocks[i](h, written, causal, cache.source[i], cache.padded);
    }
    cache.length += ids.dim(1);
    return out(h);
  }

  Tensor forward(const Index& ids, const Tensor& encoded, const Mask& padded) const {  // all words at once
    Cache cache = start(encoded, padded);
    return step(ids, cache);
  }
};

// -- 9. Model ---------------------------------------------------------------------------------------------------------

struct Transformer : nn::Layer<Transformer, Options> {
  using Layer::Layer;
  Encoder encoder{at("encoder"), options};
  Decoder decoder{at("decoder"), options};

  /// source (B, S) with the first `lengths` (B) words valid, the previous words (B, T) -> logits (B, T, V)
  Tensor forward(const Index& source, const Index& lengths, const Index& before) const {
    const Mask padded = padding(lengths, source.dim(1));
    return decoder(before, encoder(source, padded), padded);
  }

  /// The most probable next word, T times: (B, T). Words after <eos> have no meaning.
  Index translate(const Index& source, const Index& lengths, std::int64_t bos, std::int64_t T) const {
    const NoGrad off;
    const nn::Eval eval(*this);
    const Mask padded = padding(lengths, source.dim(1));
    Cache cache = decoder.start(encoder(source, padded), padded);
    Index word({source.dim(0), 1}, bos);
    std::vector<Index> words;
    for (std::int64_t t = 0; t < T; ++t) {
      word = argmax(decoder.step(word, cache), -1);  // (B, 1, V) -> (B, 1)
      words.push_back(word);
    }
    return concat(words, 1);
  }
};

}  // namespace annotated
