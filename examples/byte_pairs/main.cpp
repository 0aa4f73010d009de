// A byte-pair encoding learns tokens from a novel, and a GPT learns to write with them. Another GPT writes bytes.
#include <iostream>

#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/files/text_file.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/train/trainer.h>

#include "pieces.h"

using namespace byte_pairs;

constexpr std::int64_t steps = 1000, batch = 16;

// Trains a GPT on the tokens of a text, and gives the bits for a byte of the unseen text on the way.
kit::Series train(const std::string& name, const kit::BpeTokenizer& tokenizer, const std::string& text,
                  const std::string& unseen, kit::Example& example) {
  const nn::Gpt model{nn::root, {.vocabulary = tokenizer.size(), .context = T, .dim = 128, .heads = 4, .layers = 4}};
  const Index ids = tokenizer.encode(text);
  std::cout << "\n"
            << name << ": " << tokenizer.size() << " tokens of "
            << kit::fixed(double(text.size()) / double(ids.size()), 2) << " bytes on average, "
            << model.num_parameters() << " parameters\n  "
            << in_pieces(tokenizer, "It is a truth universally acknowledged") << "\n";

  const auto bits = [&] { return bits_per_byte(model, tokenizer, unseen); };
  kit::Series curve{.name = name, .x = {0}, .y = {bits()}};
  optim::AdamW adam{model.parameters(), {.betas = {0.9, 0.99}, .weight_decay = 0.1}};
  kit::Trainer trainer{model,
                       adam,
                       {.schedule = optim::schedule::warmup(100, optim::schedule::cosine({.steps = steps})),
                        .max_norm = 1,
                        .validate = bits,
                        .validate_every = 100}};
  trainer.fit(steps, [&] {
    const Index windows = ids[unsqueeze(randint(0, ids.size() - T, {batch}), 1) + arange(T + 1)];
    return cross_entropy(model(windows[{_, slice(0, T)}]), windows[{_, slice(1, T + 1)}]);
  });
  for (const kit::Report& report : trainer.history()) {
    curve.x.push_back(double(report.step));
    curve.y.push_back(report.scores.values[0].second);
  }
  const std::string prompt = "Mr. Darcy";
  const nn::Decoded more = model.generate(unsqueeze(tokenizer.encode(prompt), 0),
                                          {.max_length = T, .temperature = 0.8, .seed = example.seed});
  std::cout << name << " after training: " << kit::fixed(curve.y.back(), 2) << " bits for a byte of unseen text\n  "
            << prompt << tokenizer.decode(more.tokens.reshaped({more.tokens.size()})) << "\n";
  example.result.add(name, kit::fixed(curve.y.back(), 3));
  return curve;
}

void run(kit::Example& example) {
  const std::string all = kit::load_text(XGRAD_EXAMPLES_DIR "/data/pride_and_prejudice.txt");
  const std::string text = all.substr(0, all.size() * 9 / 10), unseen = all.substr(text.size());
  const auto bytes = kit::BpeTokenizer::train(text, {.size = 256, .special = {}});
  const auto pairs = kit::BpeTokenizer::train(text, {.size = 1024, .special = {}});
  std::cout << "merges, the first to be learnt first:\n" << merges(pairs);
  pairs.save(example.out / "vocab.json", example.out / "merges.txt");
  const kit::Series by_bytes = train("bytes", bytes, text, unseen, example);
  const kit::Series by_pairs = train("pairs", pairs, text, unseen, example);
  kit::save(example.out / "byte_pairs.svg",
            kit::line_plot({by_bytes, by_pairs}, {.title = "A GPT that reads bytes, and one that reads byte pairs",
                                                  .x_label = "step",
                                                  .y_label = "bits for a byte of unseen text"}));
}

int main(int argc, char** argv) {
  return kit::main(argc, argv, "byte_pairs", "A byte-pair encoding, and a GPT that writes with its tokens.", run);
}
