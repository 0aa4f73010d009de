// An LSTM learns to write, character by character, from a novel.
#include <algorithm>
#include <cmath>
#include <iostream>

#include <xgrad/kit/data/data.h>
#include <xgrad/kit/draw/heatmap.h>
#include <xgrad/kit/files/text_file.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/kit/text/tokenizer.h>
#include <xgrad/xgrad.h>

using namespace xgrad;

constexpr std::int64_t epochs = 5;
constexpr std::int64_t context = 64;

// Windows of a text: sample i is some characters, and for each of them the next one.
struct Windows {
  Index ids;

  std::int64_t size() const { return (ids.size() - 1) / context; }
  std::pair<Index, Index> operator[](std::int64_t i) const {
    const std::int64_t begin = i * context;
    return {ids[{slice(begin, begin + context)}], ids[{slice(begin + 1, begin + context + 1)}]};
  }
};

struct ModelOptions {
  std::int64_t vocabulary = 0;
};
struct CharacterModel : nn::Layer<CharacterModel, ModelOptions> {
  using Layer::Layer;
  nn::Embedding embedding{at("embedding"), options.vocabulary, 32};
  nn::LSTM lstm{at("lstm"), 32, 128};
  nn::Linear head{at("head"), 128, options.vocabulary};

  Tensor forward(const Index& ids) const { return head(lstm(embedding(ids)).output); }  // (B, T) -> (B, T, V)
};

// Perplexity: the model is as surprised as by a fair choice among so many characters.
double perplexity(const CharacterModel& model, kit::DataLoader<Windows>& loader) {
  const NoGrad off;
  double total = 0, count = 0;
  for (const auto& [ids, following] : loader) {
    total += cross_entropy(model(ids), following, {.reduction = Reduction::sum}).item();
    count += following.size();
  }
  return std::exp(total / count);
}

// How many bits each character but the first one is worth to a model that has read those before it.
kit::Values surprise(const CharacterModel& model, const Index& ids) {
  const NoGrad off;
  const Tensor logits = model(unsqueeze(ids[{slice(none, -1)}], 0))[0];
  const Tensor losses = cross_entropy(logits, ids[{slice(1, none)}], {.reduction = Reduction::none});
  return losses / std::log(2);
}

// Draws one character after the other, each from the model's prediction after those before it.
Index write(const CharacterModel& model, Index ids, int count) {
  const NoGrad off;
  for (int i = 0; i < count; ++i) {
    const Index last = unsqueeze(ids[{slice(-context, none)}], 0);
    const Tensor logits = model(last)[{0, -1}];
    const Index following = multinomial(softmax(logits / 0.7), 1);
    ids = concat(std::vector{ids, following});
  }
  return ids;
}

int main() {
  manual_seed(1);
  const std::string text = kit::load_text(XGRAD_EXAMPLES_DIR "/data/pride_and_prejudice.txt").substr(0, 200'000);
  const kit::CharacterTokenizer tokenizer(text);
  const Index ids = tokenizer.encode(text);
  const std::int64_t most = ids.size() * 9 / 10, V = tokenizer.size();
  kit::DataLoader<Windows> loader{Windows{ids[{slice(0, most)}]},
                                  {.batch_size = 16, .shuffle = true, .drop_last = true}};
  kit::DataLoader<Windows> held_out{Windows{ids[{slice(most, none)}]}, {.batch_size = 64}};
  const Index sentence = tokenizer.encode("It is a truth that a man of such manners must be happy.");
  const CharacterModel model{nn::root, {.vocabulary = V}};
  optim::AdamW adam{model.parameters(), {.lr = 4e-3, .weight_decay = 0.01}};
  optim::Scheduler scheduler{adam, optim::schedule::cosine({.min_lr = 4e-4, .steps = epochs * loader.size()})};

  kit::HeatMaps map{.title = "How much each character of a new sentence surprises the model, in bits",
                    .query_caption = "",
                    .key_caption = "the next character"};
  map.panels = {{.values = surprise(model, sentence)}};
  for (std::int64_t epoch = 1; epoch <= epochs; ++epoch) {
    for (const auto& [ids, following] : loader) {
      const Tensor loss = cross_entropy(model(ids), following);
      const auto [gradients, norm] = optim::clip_grad_norm(grad(loss, model.parameters()), model.parameters(), 1.0);
      adam.step(gradients);
      scheduler.step();
    }
    std::ranges::copy(surprise(model, sentence), std::back_inserter(map.panels[0].values));
    std::string sample = tokenizer.decode(write(model, tokenizer.encode("Mr. "), 70));
    std::ranges::replace(sample, '\n', ' ');
    std::cout << "epoch " << epoch << "  perplexity " << kit::fixed(perplexity(model, held_out), 2) << " of " << V
              << "\n"
              << sample << std::endl;
  }

  for (std::int64_t epoch = 0; epoch <= epochs; ++epoch) map.queries.push_back("epoch " + kit::number(epoch));
  for (const char character : tokenizer.decode(sentence[{slice(1, none)}])) map.keys.push_back({character});
  kit::save("characters.svg", kit::heat_map_svg(map));
  const double score = perplexity(model, held_out);
  std::cout << "result perplexity=" << kit::fixed(score, 3) << "\n";
  return score < 8 ? 0 : 1;
}
