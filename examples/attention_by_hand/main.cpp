// Attention in small numbers: every weight and every result can be checked on paper.
//
//   examples/run attention_by_hand [--out FOLDER]
//
// Read in this order: worked.h, this file, and show.h, which prints and draws.
#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/xgrad.h>

#include "show.h"
#include "worked.h"

namespace {

using namespace attention_by_hand;

void query_key_value(const std::filesystem::path& out) {
  const Words questions{"What stands out? (1, 0)", "What can I read? (0, 1)"};
  const Array weights = weights_of_things().value();
  print("weights", questions, things, weights);
  kit::save(out / "things.svg",
            things_svg("Two queries, the same keys", questions, things, keys_of_things().value(), weights));
}

void tom_and_jerry(const std::filesystem::path& out) {
  const ValueRecorder values;
  const Tensor c = contexts();
  print("weights", target, source, alignment().value());
  print("context", target, {"1", "2"}, c.value());
  save_graph(out / "contexts.svg", {c}, {.title = "Three contexts", .values = &values, .legend = false});
}

void five_matrices(const std::filesystem::path& out) {
  const ValueRecorder recorded;
  const Matrices m = attend(queries(), keys(), values(), causal_mask(5));
  print("Q K' / 2", sentence, sentence, m.scores.value());
  print("weights", sentence, sentence, m.weights.value());
  print("result", sentence, {"1", "2"}, m.result.value());
  kit::save(out / "sentence.svg", strip_svg("Masked attention in five matrices", sentence,
                                            {{"1. mask", sentence, m.mask.value()},
                                             {"2. scores", sentence, m.scores.value()},
                                             {"3. masked", sentence, m.masked.value()},
                                             {"4. softmax", sentence, m.weights.value(), true},
                                             {"5. times V", {"1", "2"}, m.result.value()}}));
  save_graph(
      out / "sentence_graph.svg", {m.result},
      {.title = "The same as a graph", .direction = Direction::left_to_right, .values = &recorded, .legend = false});
}

void where_to_mask(const std::filesystem::path& out) {
  const Maskings m = three_maskings(attend(queries(), keys(), values(), zeros({5, 5})).scores);
  const auto sums = [](const Tensor& weights) { return sum(weights, -1, {.keepdim = true}); };
  print("sums of rows", sentence, {"before", "after", "renormalised"},
        concat({sums(m.before), sums(m.after), sums(m.renormalised)}, -1).value());
  const auto panel = [&](const char* title, const Tensor& weights) {
    Words columns = sentence;
    columns.push_back("sum");
    return Matrix{title, columns, concat({weights, sums(weights)}, -1).value(), true};
  };
  kit::save(out / "maskings.svg",
            strip_svg("A mask before the softmax, after it, and renormalised", sentence,
                      {panel("before", m.before), panel("after", m.after), panel("renormalised", m.renormalised)}));
}

void prefixes(const std::filesystem::path& out) {
  using Style = kit::Series::Style;
  Tensors free, masked;
  for (std::int64_t n = 1; n <= 4; ++n) {
    free.push_back(first_result(n, false));
    masked.push_back(first_result(n, true));
  }
  const Words read{"I", "I have", "I have a", "I have a cat"};
  print("result at I", read, {"1", "2", "masked 1", "masked 2"}, concat({stack(free), stack(masked)}, 1).value());
  const auto points = [](const char* name, const Tensor& at, Style style) {  // (N, 2)
    return kit::Series{.name = name, .x = at[{_, 0}], .y = at[{_, 1}], .style = style};
  };
  const kit::Series corners = points("values of the words", values()[{slice(1, none)}], Style::points),
                    without = points("without a mask", stack(free), Style::marked),
                    with = points("causal mask", stack(masked), Style::points);
  kit::save(out / "prefixes.svg", kit::line_plot({corners, without, with}, {.title = "The result at I, of 1 to 4 words",
                                                                            .x_label = "first element",
                                                                            .y_label = "second element",
                                                                            .x_limits = kit::Limits{-0.2, 4.2},
                                                                            .y_limits = kit::Limits{-0.2, 4.2},
                                                                            .equal_aspect = true,
                                                                            .width = 460}));
}

void equal_keys(const std::filesystem::path& out) {
  const EqualKeys e;
  const nn::AdditiveAttention additive{nn::root, {.query = 20, .key = 2, .hidden = 8}};
  const nn::DotProductAttention scaled{nn::root};
  const Tensor long_queries = randn({2, 1, 20}), short_queries = randn({2, 1, 2});
  const auto rows = [](const Tensor& x) { return reshape(x, {2, -1}).value(); };
  const Words queries{"2 valid", "6 valid"}, ten{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"};
  const Array result = rows(scaled(short_queries, e.keys, e.values, e.valid));
  print("result", queries, {"1", "2", "3", "4"}, result);
  kit::save(out / "equal_keys.svg",
            strip_svg("Ten equal keys, whatever the score", queries,
                      {{"additive", ten, rows(additive.weights(long_queries, e.keys, e.valid))},
                       {"scaled dot product", ten, rows(scaled.weights(short_queries, e.keys, e.valid))},
                       {"times V", {"1", "2", "3", "4"}, result}}));
}

}  // namespace

int main(int argc, char** argv) {
  const auto run = [](kit::Example& example) {
    for (const auto part : {query_key_value, tom_and_jerry, five_matrices, where_to_mask, prefixes, equal_keys}) {
      part(example.out);
    }
  };
  return kit::main(argc, argv, "attention_by_hand", "Attention in numbers that can be checked on paper.", run);
}
