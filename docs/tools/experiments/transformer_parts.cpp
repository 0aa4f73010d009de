// Parts of a transformer, one by one: the embedding, positional encodings, the reach of a change through a norm, and
// the loss of a distribution over words.
//
//   docs/tools/run transformer_parts [--out FOLDER]
#include <cmath>
#include <iomanip>
#include <iostream>
#include <utility>

#include <xgrad/kit/draw/heatmap.h>
#include <xgrad/kit/draw/pictures.h>
#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/program/format.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/xgrad.h>

#include "../../../examples/attention_by_hand/show.h"
#include "experiments.h"

using namespace xgrad;

namespace {

// A row of the table for each id is the product with a vector that is 1 there and 0 elsewhere.
double embedding_difference() {
  const nn::Embedding embedding{nn::root, 10, 4};
  const Index ids = index({3, 0, 7});
  const Array looked_up = embedding(ids).value(),
              multiplied = matmul(Tensor(one_hot(ids, 10)), embedding.weight).value();
  double most = 0;
  for (std::int64_t i = 0; i < looked_up.size(); ++i) {
    most = std::max(most, std::abs(static_cast<double>(looked_up.data()[i] - multiplied.data()[i])));
  }
  return most;
}

// p(i, 2j) = sin(i / 10000^(2j/C)), p(i, 2j+1) = cos of the same: fast waves at the left, slow ones at the right.
void draw_positions(const std::filesystem::path& out) {
  constexpr std::int64_t length = 60, dim = 32;
  const Array p = nn::sinusoids(length, dim);
  kit::HeatMaps map{
      .title = "Sinusoidal positions", .columns = 1, .query_caption = "position", .key_caption = "column"};
  map.panels.push_back({.values = p});
  for (std::int64_t i = 0; i < length; ++i) map.queries.push_back(i % 10 == 0 ? str(i) : "");
  for (std::int64_t j = 0; j < dim; ++j) map.keys.push_back(j % 4 == 0 ? str(j) : "");
  kit::save(out / "positions.svg", kit::heat_map_svg(map));

  std::vector<kit::Series> curves;
  for (std::int64_t column = 6; column <= 9; ++column) {
    kit::Series& curve = curves.emplace_back();
    curve.name = str("column ", column);
    for (std::int64_t i = 0; i < length; ++i) {
      curve.x.push_back(static_cast<double>(i));
      curve.y.push_back(p.at({i, column}));
    }
  }
  kit::save(out / "position_curves.svg",
            kit::line_plot(curves, {.title = "Columns 6 to 9", .x_label = "position", .y_label = "p"}));
}

// The binary digits of 0 to 7 beside their sines and cosines: in both the columns at one end change fast, those at the
// other slowly. Then 20 positions of 512 columns, all sines before all cosines, -1 black and 1 white.
void compare_with_binary(const std::filesystem::path& out) {
  std::vector<std::string> rows;
  Array bits({8, 3}, Real(0));
  for (std::int64_t i = 0; i < 8; ++i) {
    rows.push_back(str(i));
    for (std::int64_t digit = 0; digit < 3; ++digit) bits.mutable_data()[3 * i + digit] = i >> (2 - digit) & 1;
  }
  kit::save(out / "binary_positions.svg",
            attention_by_hand::strip_svg(
                "Two ways to write a position", rows,
                {{"binary digits", {"4", "2", "1"}, bits},
                 {"sines and cosines, C = 6", {"sin", "cos", "sin", "cos", "sin", "cos"}, nn::sinusoids(8, 6)}}));

  constexpr std::int64_t positions = 20, columns = 512, pixels = 8;
  const Tensor grey = (Tensor(nn::sinusoids(positions, columns, nn::Sinusoids::concatenated)) + 1) / 2;
  const Tensor tall = broadcast_to(unsqueeze(grey, 1), {positions, pixels, columns});
  kit::save(out / "wide_positions.svg",
            kit::picture_grid_svg({.title = "20 positions of 512 columns: sines at the left, cosines at the right",
                                   .images = reshape(tall, {1, 1, positions * pixels, columns}).value(),
                                   .columns = 1,
                                   .width = 700}));
}

// How far the result at each position moves when position s of x (1, T, C) gets another vector: (T, T), a row for each
// s.
Tensor reach(const nn::EncoderBlock& block, const Tensor& x, const Tensor& other) {
  const NoGrad off;
  const Tensor y = block(x, nn::causal);
  Tensors rows;
  for (std::int64_t s = 0; s < x.dim(1); ++s) {
    const Tensor at_s = reshape(one_hot(index({s}), x.dim(1)), {1, -1, 1});
    rows.push_back(sqrt(sum(square(block(where(at_s > 0, other, x), nn::causal) - y), -1)));
  }
  return concat(rows, 0);
}

// A norm over positions and channels takes every change to every position, whatever the mask.
void show_norms(const std::filesystem::path& out) {
  constexpr std::int64_t T = 8, C = 16;
  const nn::TransformerOptions small{.dim = C, .ffn = 32, .heads = 2, .dropout = 0};
  nn::TransformerOptions over_positions = small;
  over_positions.norm_shape = {T, C};
  const nn::EncoderBlock apart{nn::root, small}, together{nn::root, over_positions};
  together.attn.load_state_dict(apart.attn.state_dict());
  together.ffn.load_state_dict(apart.ffn.state_dict());

  const Tensor x = randn({1, T, C}), other = randn({1, T, C}) * 3;
  kit::HeatMaps maps{.title = "Which results move, under a causal mask",
                     .columns = 2,
                     .scale = kit::HeatScale::yes_no,
                     .query_caption = "changed position",
                     .key_caption = "result at position"};
  for (std::int64_t i = 1; i <= T; ++i) maps.queries.push_back(str(i));
  maps.keys = maps.queries;
  std::cout << "\nanother vector at position 8, under a causal mask: how far the results at 1 ... 8 move\n";
  for (const auto& [name, block] : {std::pair("norms over (C)", &apart), std::pair("norms over (T, C)", &together)}) {
    const Tensor moved = reach(*block, x, other);
    maps.panels.push_back({name, to_real(moved > 0)});
    std::cout << "  " << std::left << std::setw(18) << name << std::right;
    for (const Real distance : moved[{T - 1}].value()) std::cout << " " << kit::fixed(distance, 3);
    std::cout << "   " << block->add_norm1.num_parameters() << " numbers a norm\n";
  }
  for (const Tensor& rows : {tensor({{1, 2}, {2, 3}}), tensor({{1, 2}, {2, 7}})}) {
    std::cout << "  one norm over (1, 2), (2, " << rows.value().at({1, 1}) << "):";
    for (const Real y : layer_norm(rows, {}, {}, {.normalized = {2, 2}}).value()) std::cout << " " << kit::fixed(y, 3);
    std::cout << "\n";
  }
  try {
    (void)together(randn({1, T + 1, C}));
  } catch (const ShapeError& error) {
    std::cout << "  " << error.what() << "\n";
  }
  kit::save(out / "norm_reach.svg", kit::heat_map_svg(maps));
  const auto norms = [](const GraphFrame& module) {
    return module.what.starts_with("AddNorm") ? Fold::open : Fold::closed;
  };
  save_graph((out / "norm_graph.svg").string(), {together(x, nn::causal).named("y")},
             {.title = "A block whose norms run over (8, 16)", .legend = false, .fold = norms});
}

// The target distribution, word by word, and a model's after some training. The loss of a position is -ln of the
// probability of the right word; that of the sentence is the mean.
void show_losses(const std::filesystem::path& out, kit::ResultLine& result) {
  const std::vector<std::string> words{"a", "am", "i", "thanks", "student", "<eos>"};
  std::cout << "\nmerci -> thanks\n";
  const Tensor untrained = tensor({{0.2, 0.2, 0.1, 0.2, 0.2, 0.1}}),
               one = tensor({{0.01, 0.02, 0.02, 0.9, 0.03, 0.02}});
  const double at_first = cross_entropy(log(untrained), index({3})).item();
  const double thanks = cross_entropy(log(one), index({3})).item();
  std::cout << "  p(thanks) = 0.2    loss " << kit::fixed(at_first, 4) << ", untrained\n";
  std::cout << "  p(thanks) = 0.9    loss " << kit::fixed(thanks, 4) << "\n";

  std::cout << "je suis etudiant -> i am a student <eos>\n";
  const Index target = index({2, 1, 0, 4, 5});
  const Tensor p = tensor({{0.01, 0.02, 0.93, 0.01, 0.02, 0.01},
                           {0.01, 0.8, 0.1, 0.05, 0.01, 0.03},
                           {0.99, 0.001, 0.001, 0.001, 0.002, 0.005},
                           {0.001, 0.002, 0.001, 0.02, 0.94, 0.036},
                           {0.008, 0.009, 0.001, 0.001, 0.001, 0.98}});
  const Array guessed = softmax(randn({5, 6}) * 0.3).value();  // as an untrained model would
  kit::save(
      out / "losses.svg",
      attention_by_hand::strip_svg(
          "Three distributions for each of five words", {"i", "am", "a", "student", "<eos>"},
          {{"the answer", words, one_hot(target, 6)}, {"untrained", words, guessed}, {"trained", words, p.value()}}));
  const Array losses = cross_entropy(log(p), target, {.reduction = Reduction::none}).value();
  for (std::int64_t t = 0; t < target.size(); ++t) {
    const std::int64_t word = target.at({t});
    std::cout << "  " << std::left << std::setw(10) << words[static_cast<std::size_t>(word)] << std::right << "p "
              << kit::fixed(p.value().at({t, word}), 2) << "   loss " << kit::fixed(losses.at({t}), 4) << "\n";
  }
  const double mean_loss = cross_entropy(log(p), target).item();
  const double smoothed = cross_entropy(log(p), target, {.label_smoothing = 0.1}).item();
  const double divergence = kl_div(log(p), Tensor(one_hot(target, 6)), {.reduction = Reduction::sum}).item() / 5;
  std::cout << "  mean " << kit::fixed(mean_loss, 4) << " = divergence from the certain answer "
            << kit::fixed(divergence, 4) << ", perplexity " << kit::fixed(std::exp(mean_loss), 3)
            << "; with label smoothing 0.1 " << kit::fixed(smoothed, 4) << "\n";
  result.add("loss", kit::fixed(mean_loss, 4)).add("smoothed", kit::fixed(smoothed, 4));
}

}  // namespace

int experiments::transformer_parts(int argc, char** argv) {
  const auto run = [](kit::Example& example) {
    std::cout << "\nembedding against one_hot times table: greatest difference " << embedding_difference() << "\n";
    draw_positions(example.out);
    compare_with_binary(example.out);
    show_norms(example.out);
    show_losses(example.out, example.result);
  };
  return kit::main(argc, argv, "transformer_parts", "Shows parts of a transformer: embedding, positions, losses.", run);
}
