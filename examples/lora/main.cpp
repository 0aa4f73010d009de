// A small BERT is fine-tuned with LoRA: it tells what people say in a novel from what is narrated.
#include <algorithm>
#include <iostream>

#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/files/text_file.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/program/progress.h>
#include <xgrad/kit/text/tokenizer.h>

#include "low_rank.h"

using namespace lora;

constexpr std::int64_t T = 12, C = 64, mask_id = 1, not_asked = -1;

struct Passages {
  Index words;  // (N, T)
  Index said;   // (N): 1 for words between quotation marks, else 0
};

Passages passages(const std::string& text, const kit::Tokenizer& tokenizer) {
  std::vector<std::int64_t> words, said;
  bool open = false;
  for (std::size_t begin = 0, end = 0; end < text.size(); begin = end + 1) {
    end = std::min({text.find('"', begin), text.find("\n\n", begin), text.size()});
    const Index part = tokenizer.encode(text.substr(begin, end - begin));
    for (std::int64_t i = 0; i + T <= part.size(); i += T) {
      words.insert(words.end(), part.begin() + i, part.begin() + i + T);
      said.push_back(open);
    }
    open = !open && text[end] == '"';
  }
  return {index(Shape{std::ssize(said), T}, words), index(said)};
}

// The loss of masked words, each guessed from the others of its passage.
Tensor masked_loss(const nn::Bert& bert, const Index& words) {
  Index ids = words[randint(0, words.dim(0), {64})], answers(ids.shape(), not_asked);
  const Mask asked = rand(ids.shape()) < 0.15;
  answers[asked] = ids[asked];
  ids[asked] = mask_id;
  return cross_entropy(linear(bert(ids), bert.embedding.weight), answers, {.ignore_index = not_asked});
}

void run(kit::Example& example) {
  const std::string text = kit::load_text(XGRAD_EXAMPLES_DIR "/data/pride_and_prejudice.txt");
  const kit::WordTokenizer tokenizer(text, {.min_freq = 3, .reserved = {"<unk>", "<mask>"}});
  const std::size_t end = text.find("Chapter 17");
  const Passages seen = passages(text.substr(0, end), tokenizer), unseen = passages(text.substr(end), tokenizer);
  const nn::Bert bert{nn::root, {.vocabulary = tokenizer.size(), .context = T, .segments = 1, .dim = C, .heads = 4,
                                 .layers = 2, .ffn = 4 * C, .dropout = 0, .head = nn::BertHead::none}};
  optim::AdamW adam{bert.parameters(), {.lr = 1e-3}};
  kit::ProgressBar bar{{.total = 2000, .title = "pretraining"}};
  for (int step = 1; step <= 2000; ++step) {
    const Tensor loss = masked_loss(bert, seen.words);
    adam.step(grad(loss, bert.parameters()));
    bar.update(step, {{"loss", kit::fixed(loss.item(), 3)}});
  }
  bar.finish();

  std::cout << seen.said.size() << " passages with labels, accuracy on " << unseen.said.size() << " unseen ones\n";
  std::vector<kit::Series> curves;
  for (const std::string what : {"classifier", "LoRA", "everything"}) {
    const nn::Linear classifier{nn::root, C, 2, {.init = nn::init::zeros()}};
    const LowRank changes(bert, 4);
    Tensors trained = classifier.parameters();
    if (what == "LoRA") std::ranges::copy(changes.parameters(), std::back_inserter(trained));
    if (what == "everything") std::ranges::copy(bert.parameters(), std::back_inserter(trained));
    std::int64_t count = 0;
    for (const Tensor& each : trained) count += each.size();
    const auto judged = [&](const Index& words) {  // (B, T) -> (B, 2)
      return classifier(mean(nn::functional_call(bert, changes.weights(), words), 1));
    };
    optim::AdamW tuning{trained, {.lr = what == "everything" ? 3e-4 : 3e-3}};
    kit::Series& curve = curves.emplace_back(kit::Series{.name = what});
    for (std::int64_t step = 0; step <= 300; ++step) {
      if (step % 10 == 0) {
        const NoGrad off;
        curve.x.push_back(double(step));
        curve.y.push_back(mean(argmax(judged(unseen.words), 1) == unseen.said).item());
      }
      const Index rows = randint(0, seen.said.size(), {32});
      tuning.step(grad(cross_entropy(judged(seen.words[rows]), seen.said[rows]), trained));
    }
    std::cout << what << ": trains " << count << " of " << bert.num_parameters() + classifier.num_parameters()
              << " parameters, accuracy " << kit::fixed(curve.y.front(), 3) << " before, "
              << kit::fixed(curve.y.back(), 3) << " after\n";
  }
  kit::save(example.out / "lora.svg",
            kit::line_plot(curves, {.title = "Accuracy on unseen passages", .x_label = "step"}));
}

int main(int argc, char** argv) {
  return kit::main(argc, argv, "lora", "A small BERT that LoRA fine-tunes to classify passages of a novel.", run);
}
