// Other sets of vectors: a label for a sequence, a label for each word, frames of a sound, nodes of a graph.
//
//   docs/tools/run sets_of_vectors [--seed N] [--out FOLDER]
//
// Read in this order: sets.h, and this file.
#include <iostream>

#include <xgrad/kit/draw/heatmap.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/program/output.h>

#include "experiments.h"
#include "sets.h"

namespace {

using namespace sets_of_vectors;

struct Split {
  Labelled seen, unseen;

  // Two thirds to train on.
  explicit Split(const Labelled& all) {
    const Index order = randperm(all.size());
    seen = all.rows(order[{slice(0, all.size() * 2 / 3)}]);
    unseen = all.rows(order[{slice(all.size() * 2 / 3, none)}]);
  }
};

// Trains a model, and one in which each word sees only itself, and compares them.
template <class Model>
void compare(const Split& data, const Mask& counts, const char* name, const char* what, kit::Example& example) {
  std::string text = what;
  for (const bool sees_all : {true, false}) {
    const AttentionMask mask = sees_all ? AttentionMask() : nn::window({.before = 0, .after = 0});
    const Model model{nn::root};
    fit(model, data.seen, mask);
    const std::string share = kit::fixed(accuracy(model, data.unseen, mask, counts), 3);
    text += str(sees_all ? ": " : ", without attention ", share);
    example.result.add(str(name, sees_all ? "" : "_alone"), share);
  }
  std::cout << text << "\n";
}

// "i/pronoun saw/verb a/article saw/noun"
std::string tagged_text(const Tagger& model, const kit::Tokens& text) {
  const NoGrad off;
  const Labelled one = padded({text}, std::ssize(text));
  const Index found = argmax(model(one.ids, one.lengths), -1);
  std::string line;
  for (std::int64_t t = 0; t < found.size(); ++t) {
    const auto i = static_cast<std::size_t>(t);
    line += str(t == 0 ? "" : " ", text[i], "/", tag_names[static_cast<std::size_t>(found.at({0, t}))]);
  }
  return line;
}

void draw(const std::filesystem::path& path, const char* title, const Tensor& weights, const std::vector<bool>& masked,
          const char* what, const kit::Tokens& labels) {
  kit::save(path, kit::heat_map_svg({.title = title,
                                     .queries = labels,
                                     .keys = labels,
                                     .panels = {{.values = weights}},
                                     .columns = 1,
                                     .masked = masked,
                                     .query_caption = what,
                                     .key_caption = "attends to"}));
}

void run(kit::Example& example) {
  const Split film{reviews()}, saw{tagged()};
  compare<Classifier>(film, film.unseen.labels >= 0, "sequences", "a label for a sequence, right", example);
  compare<Tagger>(saw, ambiguous(saw.unseen), "words", "a label for each word, right where two are possible", example);
  const Tagger tagger{nn::root};
  fit(tagger, tagged(), {});
  std::cout << "  " << tagged_text(tagger, {"i", "saw", "a", "saw"}) << "\n";

  const Tensor heard = frames(tones());
  const nn::DotProductAttention attention{nn::root};
  std::cout << "sound: 16000 samples become " << heard.dim(1) << " frames of " << heard.dim(2) << "\n";
  const Index shown = arange(0, heard.dim(1), 7);
  kit::Tokens times;
  for (const std::int64_t frame : shown) times.push_back(str(10 * frame, " ms"));
  const Tensor some = index_select(heard, 1, shown);
  draw(example.out / "sets_of_vectors_frames.svg", "Every seventh frame: two tones in turn",
       attention.weights(some, some), {}, "frame at", times);

  const Mask hidden = !five_nodes();
  const Tensor equal_nodes = ones({1, 5, 4});
  const Tensor weights = attention.weights(equal_nodes, equal_nodes, {.masked = hidden});
  draw(example.out / "sets_of_vectors_graph.svg", "Nodes that are linked", weights,
       std::vector<bool>(hidden.begin(), hidden.end()), "node", {"0", "1", "2", "3", "4"});
  std::cout << "graph: node 1 of 5 gives its neighbours";
  for (std::int64_t j = 0; j < 5; ++j) std::cout << " " << kit::fixed(weights.value().at({0, 1, j}), 2);
  std::cout << "\n";
}

}  // namespace

int experiments::sets_of_vectors(int argc, char** argv) {
  return kit::main(argc, argv, "sets_of_vectors", "Sequences, words, frames of a sound and nodes of a graph.", run);
}
