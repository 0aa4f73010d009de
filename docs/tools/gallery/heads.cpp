// Many heads: rows B1 to B4, and B6.
#include "../../../examples/two_heads/worked.h"
#include "gallery.h"

namespace gallery {

namespace {

// The weights of the heads of one sequence, (B, H, T, S), each a panel.
std::vector<Panel> heads_of(const Array& weights, std::int64_t b = 0) {
  std::vector<Panel> panels;
  for (std::int64_t h = 0; h < weights.dim(1); ++h) panels.push_back({str("head ", h + 1), weights[{b, h}]});
  return panels;
}

// B1, B2: heads of layers that have learnt nothing.
void layers(const std::filesystem::path& out) {
  const nn::MultiHeadAttention apart{nn::root, 12, 4, {.query = 6, .key = 5, .value = 3}};
  const Tensor query = randn({2, 6, 6}) * 4, key = randn({2, 8, 5}) * 4, value = randn({2, 8, 3});
  nn::AttentionRecorder recorder;
  (void)apart(query, key, value, nn::padding(index({5, 8})));
  save(out / "b1.svg", weight_maps("Four heads, 5 of 8 keys valid", heads_of(recorder.last("")), 2));

  const nn::MultiHeadAttention same{nn::root, 32, 8};
  const Tensor x = cumsum(randn({1, 6, 32}), 1);
  (void)same(x * 2);
  save(out / "b2.svg",
       weight_maps("Eight heads, the same number of parameters as one", heads_of(recorder.last("")), 4));
}

// B3, B4: the keys that PyTorch's layer adds, and a mask of numbers.
void options(const std::filesystem::path& out) {
  const nn::pytorch::MultiheadAttention attn{nn::root, 16, 2, {.add_bias_kv = true, .add_zero_attn = true}};
  const Tensor x = input("x", {1, 6, 16});
  const Tensor weights = attn.forward(x, x, x, {.average_attn_weights = false}).weights;
  kit::HeatMaps picture = maps("Six keys, the learned one, the one of zeros", heads_of(weights.value()), 2);
  picture.keys = {"1", "2", "3", "4", "5", "6", "bias_k", "zero"};
  save(out / "b3.svg", picture);

  const Tensor q = input("q", {1, 6, 16}), k = input("k", {1, 6, 16});
  const Tensor places = to_real(arange(6));
  const Tensor bias = -abs(unsqueeze(places, 1) - unsqueeze(places, 0));
  const nn::DotProductAttention plain{nn::root};
  save(out / "b4.svg",
       weight_maps("Weights without and with a bias: minus the distance",
                   {{"without", plain.weights(q, k).value()}, {"with", plain.weights(q, k, {.bias = bias}).value()}},
                   2));
}

// B6: the weights of an example.
void worked(const std::filesystem::path& out) {
  const two_heads::Weights weights;
  const two_heads::Steps steps = two_heads::by_vectors(weights, randn({2, 4}).value());
  std::vector<Panel> panels;
  for (std::size_t h = 0; h < 2; ++h) {
    panels.push_back({str("head ", h + 1), concat({steps.alpha[0][h], steps.alpha[1][h]}, 0).value()});
  }
  save(out / "b6.svg", weight_maps("How much each position takes from each", panels, 2));
}

}  // namespace

void heads(const std::filesystem::path& out) {
  layers(out);
  options(out);
  worked(out);
}

}  // namespace gallery
