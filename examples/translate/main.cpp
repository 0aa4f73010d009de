// English to French: the library's transformer, nn::EncoderDecoder, learns to translate short sentences. The settings
// are those of "Dive into Deep Learning", section 11.7.
//
//   examples/quickstart [--epochs N] [--data FILE] [--pairs N] [--seed N] [--out FOLDER] [--resume] ...
//
// Read this file, then pictures.h. The model is in nn/models/transformer.h, its attention in
// nn/attention/multi_head_attention.h. The same program in PyTorch is beside it, pytorch.py.
#include <chrono>
#include <iostream>

#include <xgrad/kit/data/data.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/text/bleu.h>
#include <xgrad/kit/text/corpus.h>
#include <xgrad/kit/train/trainer.h>
#include <xgrad/kit/train/translation.h>
#include <xgrad/xgrad.h>

#include "pictures.h"

namespace {

using namespace xgrad;

const std::vector<std::string> attended{"last", "same-depth", "all"};  // in the order of nn::CrossAttention

struct Config {
  // The first 600 pairs of the file, 10 tokens each; words seen once are unknown.
  kit::CorpusOptions corpus{.file = XGRAD_EXAMPLES_DIR "/translate/data/en-fr.tsv"};
  nn::TransformerOptions model{.dim = 32, .ffn = 64, .heads = 4, .layers = 2, .dropout = 0.1};
  std::int64_t epochs = 200;
  std::int64_t batch = 64;  // B
  double learning_rate = 0.005;
  bool resume = false;
};

/// For each sentence the mean cross-entropy over its T positions, of which padding counts 0, summed over the batch. The
/// decoder is shown the right words before each position, and predicts the next (teacher forcing).
Tensor batch_loss(const nn::EncoderDecoder& model, const kit::Corpus& data, const kit::CorpusBatch& batch) {
  const Index before = nn::shift_right(batch.target, data.bos());           // (B, T)
  const Tensor logits = model(batch.source, batch.source_lengths, before);  // (B, T, V)
  const Tensor total = cross_entropy(logits, batch.target, {.ignore_index = data.pad(), .reduction = Reduction::sum});
  return total / batch.target.dim(1);
}

/// Translates, judges and prints.
void report(const nn::EncoderDecoder& model, const kit::Corpus& data, kit::ResultLine& result) {
  std::vector<kit::Tokens> sources;
  for (const kit::KnownPair& pair : kit::known_pairs) sources.push_back(kit::words(pair.source));
  const std::vector<kit::Tokens> learnt = kit::translations(model, data, sources);
  std::cout << "\nlearnt\n";
  for (std::size_t i = 0; i < learnt.size(); ++i) {
    const std::string score = kit::fixed(kit::bleu(learnt[i], kit::words(kit::known_pairs[i].target), 2), 3);
    std::cout << "  " << kit::joined(sources[i]) << " => " << kit::joined(learnt[i]) << "   BLEU " << score << "\n";
    result.add(str("bleu", i + 1), score);
  }
  sources = data.held_out_sources();
  const std::vector<kit::Tokens> guessed = kit::translations(model, data, sources);
  std::cout << "never seen\n";
  for (std::size_t i = 0; i < std::min<std::size_t>(6, guessed.size()); ++i) {
    const std::vector<kit::Tokens>& answers = data.held_out()[i].answers;
    std::cout << "  " << kit::joined(sources[i]) << " => " << kit::joined(guessed[i]) << "   BLEU "
              << kit::fixed(kit::best_bleu(guessed[i], answers, 2), 3) << "  (" << kit::joined(answers.front())
              << ")\n";
  }
  const std::string score = kit::fixed(kit::mean_bleu(guessed, data.held_out(), 2), 3);
  std::cout << "  mean BLEU of " << guessed.size() << " sentences: " << score << "\n";
  result.add("held_out_bleu", score);
}

void run(const Config& config, kit::Example& example) {
  const kit::Corpus data(config.corpus);
  const nn::EncoderDecoder model{nn::root, data.source_vocab().size(), data.target_vocab().size(), config.model};
  kit::reset_to_xavier(model);
  std::cout << data.size() << " pairs, vocabularies of " << data.source_vocab().size() << " and "
            << data.target_vocab().size() << " words, " << data.held_out().size() << " sentences held out; "
            << model.num_parameters() << " parameters\n";

  const Tensors parameters = model.parameters();
  optim::Adam adam{parameters, {.lr = config.learning_rate}};
  kit::DataLoader batches{data, {.batch_size = config.batch, .shuffle = true, .seed = example.seed}};
  kit::Trainer trainer{
      model,
      adam,
      {.epochs = config.epochs,
       .folder = example.out,
       .resume = config.resume,
       .attributes = {{"cross-attention", attended.at(static_cast<std::size_t>(config.model.cross_attention))},
                      {"learning rate", config.learning_rate},
                      {"pairs", data.fingerprint()}},
       .interruptible = true}};
  const auto begin = std::chrono::steady_clock::now();
  trainer.run(batches, [&](const kit::CorpusBatch& batch) {
    const Tensor loss = batch_loss(model, data, batch);
    adam.step(optim::clip_grad_norm(grad(loss, parameters), parameters, 1).gradients);
    return static_cast<double>(loss.item()) / batch.tokens;
  });
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;

  if (!trainer.history().empty()) example.result.add("loss", kit::fixed(trainer.history().back().loss, 4));
  report(model, data, example.result);
  example.result.add("seconds", kit::fixed(seconds.count(), 1));

  nn::AttentionRecorder recorder;
  const kit::Tokens source = kit::words(kit::known_pairs.back().source);
  const kit::Tokens written = kit::translations(model, data, {source}).front();
  draw_attention(example.out, recorder, source, written, config.corpus.steps);
  const kit::CorpusBatch some = data.batch(arange(std::min(config.batch, data.size())));
  draw_graphs(example.out, batch_loss(model, data, some).named("loss"), parameters);
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = [](kit::Options& o, Config& c) {
    kit::add_corpus_options(o, c.corpus);
    o.integer("--epochs", c.epochs, "times that every pair is seen", 0, 1'000'000'000);
    o.integer("--batch", c.batch, "sentences per step", 1, 1'000'000);
    o.real("--lr", c.learning_rate, "learning rate", 1e-9, 1000);
    o.choice("--cross-attention", c.model.cross_attention, attended, "encoder layers that a decoder block attends to");
    o.flag("--resume", c.resume, "go on from the checkpoint in the folder");
  };
  return kit::main<Config>(argc, argv, "translate",
                           "English to French: trains a small transformer and shows translations.", options, run);
}
