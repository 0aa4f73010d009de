// Attention: rows A4 to A10.
#include "gallery.h"

namespace gallery {

namespace {

constexpr std::int64_t T = 10, d = 4;

// A4: keys after a length have the weight 0.
void masked(const std::filesystem::path& out) {
  const Tensor scores = randn({3, 5});
  const Index lengths = index({2, 5, 3});
  const Tensor p = masked_softmax(unsqueeze(scores, 1), lengths);
  save(out / "a4.svg", weight_maps("The softmax of three rows, of lengths 2, 5, 3",
                                   {{"softmax", softmax(scores).value()}, {"masked_softmax", p.value()}}, 2));
}

// A5, A6: the softmax of two scores of the same queries and keys.
void scores(const std::filesystem::path& out) {
  const Tensor x = cumsum(randn({1, T, d}), 1);
  const nn::AdditiveAttention additive{nn::root, {.query = d, .key = d, .hidden = 8}};
  const nn::DotProductAttention scaled{nn::root};
  const auto draw = [&](const char* file, const char* title, const nn::AttentionPooling& attn) {
    save(out / file, maps(title,
                          {{"all keys", attn.weights(x, x).value()},
                           {"7 keys valid", attn.weights(x, x, nn::padding(index({7}))).value()}},
                          2));
  };
  draw("a5.svg", "Additive attention within a walk", additive);
  draw("a6.svg", "Scaled dot products within a walk", scaled);
}

// A7: rows and columns.
void rows_and_columns(const std::filesystem::path& out) {
  const nn::SelfAttention attn{nn::root, 6, d};
  const Tensor x = input("X", {1, T, 6});
  save_graph(out / "a7_graph.svg", {attn(x).named("Y")}, {.title = "Self-attention", .depth = 1, .legend = false});
  const auto turned = [](const Tensor& y) { return transpose(y).value(); };
  kit::HeatMaps picture = maps("Positions as rows, and as columns turned back",
                               {{"rows: Y", attn(x).value()}, {"columns: Y'", turned(attn.columns(transpose(x)))}}, 2);
  picture.query_caption = "position", picture.key_caption = "column of Y";
  save(out / "a7.svg", picture);
}

// A8 to A10: masks.
void seen(const std::filesystem::path& out) {
  const Tensor x = cumsum(randn({1, T, d}), 1);
  const nn::BandAttention windowed{nn::root, {.before = 2, .after = 1}};
  const nn::DotProductAttention attn{nn::root};
  save(out / "a8.svg",
       weight_maps("Without a window, and two before and one behind",
                   {{"all", attn.weights(x, x).value()}, {"window", windowed.weights(x, x).value()}}, 2));

  const auto phi = [](const Tensor& y) { return elu(y) + 1; };
  const Tensor products = matmul(phi(x), phi(x), {.transpose_b = true});
  const Tensor linear = products / sum(products, -1, {.keepdim = true});
  save(out / "a9.svg", weight_maps("Softmax, and the weights that linear attention never computes",
                                   {{"softmax", attn.weights(x, x).value()}, {"linear", linear.value()}}, 2));

  const AttentionMask both = nn::causal & nn::padding(index({7}));
  save(out / "a10.svg", weight_maps("The same scores under three masks",
                                    {{"causal", attn.weights(x, x, nn::causal).value()},
                                     {"padding, 7 keys", attn.weights(x, x, nn::padding(index({7}))).value()},
                                     {"both", attn.weights(x, x, both).value()}},
                                    2));
}

}  // namespace

void attention(const std::filesystem::path& out) {
  masked(out);
  scores(out);
  rows_and_columns(out);
  seen(out);
}

}  // namespace gallery
