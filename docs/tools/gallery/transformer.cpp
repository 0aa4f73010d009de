// The transformer: rows C1 to C15.
#include <xgrad/kit/draw/attention.h>

#include "../../../examples/word_vectors/model.h"
#include "gallery.h"

namespace gallery {

namespace {

const nn::TransformerOptions small{.dim = 16, .ffn = 32, .heads = 2, .layers = 2, .dropout = 0};

// C1, C2: from ids to vectors that know where they stand.
void tokens(const std::filesystem::path& out) {
  const nn::Embedding embedding{nn::root, 6, 8};
  const Index ids = index({{3, 0, 5, 3}});
  kit::HeatMaps table = maps("The rows 3, 0, 5, 3 of a table of six", {{"x", embedding(ids).value()}}, 1);
  table.queries = {"3", "0", "5", "3"}, table.query_caption = "id", table.key_caption = "column";
  save(out / "c1.svg", table);

  const Tensor p = nn::sinusoids(16, 16);
  kit::HeatMaps alike = maps("Products of 16 sinusoidal positions", {{"p p'", matmul(p, transpose(p)).value()}}, 1);
  alike.query_caption = alike.key_caption = "position";
  save(out / "c2.svg", alike);
}

// C3 to C5: the parts between two attentions.
void parts(const std::filesystem::path& out) {
  const nn::LayerNorm layer{nn::root, 2};
  const nn::BatchNorm1d batch{nn::root, 2};
  const Tensor x = tensor({{1, 2}, {2, 3}});
  const Tensor rows = layer(x), columns = batch(x);
  kit::HeatMaps norms = maps("X, its rows normalised, its columns normalised",
                             {{"X", x.value()}, {"layer norm", rows.value()}, {"batch norm", columns.value()}});
  norms.query_caption = "sample", norms.key_caption = "feature";
  save(out / "c3.svg", norms);

  const nn::AddNorm add_norm{nn::root, {8}, {.dropout = 0.1}};
  const Tensor h = input("x", {6, 8}), f = input("f(x)", {6, 8});
  const Tensor y = add_norm(h, f).named("y");
  save_graph(out / "c4_graph.svg", {y}, {.title = "Residual, dropout, norm", .legend = false});
  kit::HeatMaps sums =
      maps("Every row of the sum gets mean 0 and variance 1",
           {{"x", h.value()}, {"x + f(x)", (h + f).value()}, {"norm(x + dropout(f(x)))", y.value()}}, 2);
  sums.query_caption = "position", sums.key_caption = "column";
  save(out / "c4.svg", sums);

  const Tensor grid = (to_real(arange(81)) - 40) / 10;
  const auto curve = [&](const char* name, const Tensor& values) {
    return kit::Series{name, grid, values, kit::Series::Style::line};
  };
  kit::save(out / "c5.svg", kit::line_plot({curve("relu", relu(grid)), curve("gelu", gelu(grid))},
                                           {.title = "Two activations", .width = 480, .height = 300}));
}

// How much logits of position t change with the input of position s: the reach of t.
Array reach(const Tensor& y, const Tensor& x) {
  const std::int64_t T = y.dim(1), S = x.dim(1);
  Array seen(Shape{T, S});
  for (std::int64_t t = 0; t < T; ++t) {
    const Tensor g = grad(sum(y[{0, t, 0}]), {x}, {.retain_graph = true})[0];
    const Array sizes = sum(abs(g), -1).value();
    for (std::int64_t s = 0; s < S; ++s) seen.mutable_data()[t * S + s] = sizes.at({0, s}) > 1e-6 ? 1 : 0;
  }
  return seen;
}

// C9, C10: what a decoder depends on.
void blocks(const std::filesystem::path& out) {
  const Index source = index({{4, 7, 2, 9, 3, 1}}), lengths = index({5}), target = index({{5, 8, 6, 2, 3}});
  const nn::DecoderBlock block{nn::root, small};
  const Tensor x = input("x", {1, 5, 16}), m = input("memory", {1, 6, 16});
  const Tensor y = block(x, m, nn::padding(lengths));
  kit::HeatMaps own = maps("Which positions the decoder's row t depends on", {{"written before", reach(y, x)}}, 1);
  own.scale = kit::HeatScale::yes_no;
  own.query_caption = "predicts", own.key_caption = "reads";
  own.queries = {"i", "am", "a", "student", "<eos>"}, own.keys = {"<bos>", "i", "am", "a", "student"};
  save(out / "c10.svg", own);

  const nn::EncoderDecoder all{
      nn::root,
      20,
      20,
      {.dim = 16, .ffn = 32, .heads = 2, .layers = 2, .dropout = 0, .cross_attention = nn::CrossAttention::all}};
  nn::AttentionRecorder recorder;
  (void)all(source, lengths, target);
  kit::HeatMaps keys = maps("Two layers of memory side by side, 5 of 6 tokens each",
                            {{"decoder block 1, head 1", recorder.last("decoder.blocks.0.cross_attn")[{0, 0}]},
                             {"decoder block 2, head 1", recorder.last("decoder.blocks.1.cross_attn")[{0, 0}]}},
                            2);
  save(out / "c9.svg", keys);
}

// C13: a loss with its gradient.
void looking(const std::filesystem::path& out) {
  const Index right = index({2, 1, 0, 4, 5});
  const Tensor p = tensor({{0.01, 0.02, 0.93, 0.01, 0.02, 0.01},
                           {0.01, 0.8, 0.1, 0.05, 0.01, 0.03},
                           {0.99, 0.001, 0.001, 0.001, 0.002, 0.005},
                           {0.001, 0.002, 0.001, 0.02, 0.94, 0.036},
                           {0.008, 0.009, 0.001, 0.001, 0.001, 0.98}});
  const Tensor logits = variable(log(p).value(), "logits");
  const Tensor loss = cross_entropy(logits, right).named("loss");
  const Tensor g = grad(loss, {logits}, {.create_graph = true})[0];
  save_graph(out / "c13_graph.svg", {loss, g}, {.title = "A loss and its gradient", .legend = false});
  kit::HeatMaps words = maps("Predictions, and the gradient of the loss of five words",
                             {{"p", p.value()}, {"dL/dz = (p - y) / 5", g.value()}}, 2);
  words.scale = kit::HeatScale::each;
  words.queries = {"i", "am", "a", "student", "<eos>"};
  words.keys = {"a", "am", "i", "thanks", "student", "<eos>"};
  words.query_caption = "right word", words.key_caption = "word";
  save(out / "c13.svg", words);
}

// C15: words by their neighbours.
void others(const std::filesystem::path& out) {
  const word_vectors::SkipGram model{100, 32};
  save_graph(out / "c15_graph.svg", {model.loss(index({3, 7}), index({{4, 9, 21}, {8, 2, 50}})).named("loss")},
             {.title = "Skip-gram: a neighbour and two that are none", .depth = 9, .legend = false});
}

}  // namespace

void transformer(const std::filesystem::path& out) {
  tokens(out);
  parts(out);
  blocks(out);
  looking(out);
  others(out);
}

}  // namespace gallery
