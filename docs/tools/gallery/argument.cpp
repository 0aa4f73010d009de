// The argument: rows G1 and G2.
#include "../experiments/layers.h"
#include "../experiments/stacks.h"
#include "gallery.h"

namespace gallery {

void argument(const std::filesystem::path& out) {
  const auto draw = [&](const char* file, const char* title, const Tensors& results) {
    save_graph(out / file, results, {.title = title, .legend = false});
  };
  Tensors tokens = compare_layers::make_tokens(3, 4);
  for (std::size_t t = 0; t < tokens.size(); ++t) tokens[t] = tokens[t].named(str("x", t + 1));
  draw("g1_attention.svg", "Attention", {compare_layers::attention(tokens).back().named("y3")});
  draw("g1_recurrence.svg", "Recurrence", {compare_layers::recurrence(tokens).back().named("h3")});
  draw("g1_convolution.svg", "Convolution", {compare_layers::convolution(tokens, 2).back().named("y3")});

  const residual::Block block{nn::root, {.width = 32, .path = residual::Path::residual}};
  save_graph(out / "g2_graph.svg", {block(input("x", {8, 32})).named("y")},
             {.title = "A residual block", .direction = Direction::left_to_right, .depth = 1, .legend = false});
}

}  // namespace gallery
