// The choices that every text on the transformer recommends, one by one: the translator of examples/translate with one
// choice changed at a time, over several seeds.
//
//   docs/tools/run choices [--epochs N] [--seeds N] [--out FOLDER] ...
#include <algorithm>
#include <cmath>
#include <iostream>

#include <xgrad/kit/data/data_loader.h>
#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/kit/program/table.h>
#include <xgrad/kit/text/bleu.h>
#include <xgrad/kit/text/corpus.h>
#include <xgrad/kit/train/trainer.h>
#include <xgrad/kit/train/translation.h>
#include <xgrad/kit/train/trials.h>
#include <xgrad/xgrad.h>

#include "experiments.h"

namespace {

using namespace xgrad;

struct Config {
  kit::CorpusOptions corpus{.file = XGRAD_EXAMPLES_DIR "/translate/data/en-fr.tsv"};
  std::int64_t epochs = 100;
  std::int64_t seeds = 5;
};

enum class Decay { none, all, matrices };

/// A model and its training; what is not said is as in examples/translate.
struct Choice {
  const char* name;
  nn::TransformerOptions model = {.dim = 32, .ffn = 64, .heads = 4, .layers = 2, .dropout = 0.1};
  double max_norm = 1;       // of the gradient; 0: no clipping
  double smoothing = 0;      // of the labels
  Decay decay = Decay::none; // of which parameters
  bool xavier = true;        // first weights, else those of PyTorch's layers
  bool falls = false;        // the learning rate, to 0 (cosine), else it is constant
};

std::vector<Choice> choices() {
  std::vector<Choice> all{{.name = "as in the example"}};
  const auto add = [&](const char* name) -> Choice& { return all.emplace_back(Choice{.name = name}); };
  add("no dropout").model.dropout = 0;
  add("dropout 0.3").model.dropout = 0.3;
  add("1 head").model.heads = 1;
  add("2 heads").model.heads = 2;
  add("8 heads").model.heads = 8;
  add("1 layer").model.layers = 1;
  add("4 layers").model.layers = 4;
  add("pre-norm").model.norm = nn::NormOrder::pre;
  add("GELU").model.activation = [](const Tensor& x) { return gelu(x); };
  add("no clipping").max_norm = 0;
  add("label smoothing 0.1").smoothing = 0.1;
  add("weight decay 0.1").decay = Decay::matrices;
  add("weight decay 0.1, norms too").decay = Decay::all;
  add("PyTorch's first weights").xavier = false;
  const auto positions = [&](const char* name, nn::Positions kind, bool scale) {
    nn::TransformerOptions& model = add(name).model;
    model.positions = kind;
    model.scale_embedding = scale;
  };
  positions("without sqrt(C)", nn::Positions::sinusoidal, false);
  positions("positions joined", nn::Positions::joined, true);
  positions("positions joined, without sqrt(C)", nn::Positions::joined, false);
  positions("positions learned", nn::Positions::learned, true);
  positions("positions learned, without sqrt(C)", nn::Positions::learned, false);
  positions("no positions", nn::Positions::none, true);
  add("norm without gain and bias").model.norm_kind = nn::NormKind::layer_without_affine;
  add("batch norm").model.norm_kind = nn::NormKind::batch;
  add("no norm").model.norm_kind = nn::NormKind::none;
  add("dropout 0.2").model.dropout = 0.2;
  add("a rate that falls to 0").falls = true;
  const auto together = [&](const char* name, bool xavier, std::int64_t dim) {
    Choice& choice = add(name);
    choice.smoothing = 0.1, choice.decay = Decay::all, choice.xavier = xavier;
    choice.model.dim = dim, choice.model.ffn = 2 * dim;
  };
  together("smoothing and decay", true, 32);
  together("smoothing, decay, first weights", false, 32);
  together("smoothing, decay, first weights, width 64", false, 64);
  return all;
}

struct Outcome {
  double loss;      // per training token, without smoothing and dropout
  double new_loss;  // per token of sentences never seen
  double greedy, beam;  // BLEU of their translations
  std::vector<double> epochs;  // the loss of each while it trains
};

// The mean cross-entropy of a token, given the right ones before.
double loss_of(const nn::EncoderDecoder& model, const kit::Corpus& corpus, const kit::CorpusBatch& batch) {
  const NoGrad off;
  return kit::translation_loss(model, corpus, batch).item();
}

// The held-out sentences with the first of their answers.
kit::CorpusBatch held_out(const kit::Corpus& corpus) {
  kit::CorpusBatch batch = corpus.sources(corpus.held_out_sources());
  const std::int64_t steps = batch.source.dim(1);
  batch.target = Index(Shape{batch.size(), steps}, corpus.pad());
  for (std::int64_t i = 0; i < batch.size(); ++i) {
    const kit::Tokens& words = corpus.held_out()[static_cast<std::size_t>(i)].answers.front();
    const std::int64_t count = std::min<std::int64_t>(std::ssize(words), steps - 1);
    std::int64_t* ids = batch.target.mutable_data() + i * steps;
    for (std::int64_t t = 0; t < count; ++t) ids[t] = corpus.target_vocab().id(words[static_cast<std::size_t>(t)]);
    ids[count] = corpus.eos();
  }
  return batch;
}

double beam_bleu(const nn::EncoderDecoder& model, const kit::Corpus& corpus) {
  const kit::CorpusBatch batch = corpus.sources(corpus.held_out_sources());
  auto writing = model.start(batch.source, batch.source_lengths);
  const auto found = nn::beam_search(
      writing, {.bos = corpus.bos(), .eos = corpus.eos(), .max_length = batch.source.dim(1), .num_beams = 4});
  std::vector<kit::Tokens> guesses;
  for (const nn::Hypotheses& of_sentence : found) guesses.push_back(corpus.words(of_sentence.front().tokens));
  return kit::mean_bleu(guesses, corpus.held_out(), 2);
}

// The mean loss of each epoch.
std::vector<double> train(const nn::EncoderDecoder& model, const Config& config, const kit::Corpus& corpus,
                          const Choice& choice, Seed seed) {
  const optim::AdamWOptions options{.lr = 0.005, .weight_decay = choice.decay == Decay::none ? 0 : 0.1};
  std::vector<optim::GroupRule<optim::AdamWOptions>> rules;
  if (choice.decay == Decay::matrices) rules = {{nn::without_weight_decay(model), {.lr = 0.005, .weight_decay = 0}}};
  optim::AdamW adam{optim::parameter_groups<optim::AdamWOptions>(model.parameters(), rules, options)};
  kit::DataLoader batches{corpus, {.batch_size = 64, .shuffle = true, .seed = seed}};
  kit::TrainerOptions training{.epochs = config.epochs, .max_norm = choice.max_norm, .terminal = {}};
  if (choice.falls) training.schedule = optim::schedule::cosine({.steps = config.epochs * batches.size()});
  kit::Trainer trainer{model, adam, training};
  trainer.fit(batches, [&](const kit::CorpusBatch& batch) {
    const Tensor logits = model(batch.source, batch.source_lengths, nn::shift_right(batch.target, corpus.bos()));
    return cross_entropy(logits, batch.target,
                         {.ignore_index = corpus.pad(), .label_smoothing = choice.smoothing});
  });
  std::vector<double> epochs;
  for (const kit::Report& report : trainer.history()) epochs.push_back(report.loss);
  return epochs;
}

Outcome learn(const Config& config, const kit::Corpus& corpus, const Choice& choice, Seed seed) {
  const nn::EncoderDecoder model{nn::root, corpus.source_vocab().size(), corpus.target_vocab().size(), choice.model};
  if (choice.xavier) kit::reset_to_xavier(model);
  std::vector<double> epochs = train(model, config, corpus, choice, seed);
  const nn::Eval eval(model);
  const auto guesses = kit::translations(model, corpus, corpus.held_out_sources());
  return {.loss = loss_of(model, corpus, corpus.batch(arange(corpus.size()))),
          .new_loss = loss_of(model, corpus, held_out(corpus)),
          .greedy = kit::mean_bleu(guesses, corpus.held_out(), 2),
          .beam = beam_bleu(model, corpus),
          .epochs = std::move(epochs)};
}

void run(const Config& config, kit::Example& example) {
  const kit::Corpus corpus(config.corpus);
  const std::vector<Choice> all = choices();
  std::cout << corpus.size() << " pairs, " << corpus.held_out().size() << " sentences held out, " << config.epochs
            << " epochs, means of " << config.seeds << " seeds\n";
  kit::Table table({"", "loss", "held-out loss", "BLEU", "BLEU, beam of 4", "BLEU of each seed"});
  std::vector<std::string> names;
  for (const Choice& choice : all) names.push_back(choice.name);
  const auto found = kit::trials(names, {example.seed, config.seeds}, [&](std::size_t c, Seed seed) {
    return learn(config, corpus, all[c], seed);
  });
  std::vector<kit::Series> norms;
  for (std::size_t c = 0; c < all.size(); ++c) {
    const kit::Trials<Outcome>& one = found[c];
    table.row({one.name, kit::fixed(one.mean(&Outcome::loss), 3), kit::fixed(one.mean(&Outcome::new_loss), 2),
               kit::fixed(one.mean(&Outcome::greedy), 3), kit::fixed(one.mean(&Outcome::beam), 3),
               one.each(&Outcome::greedy)});
    example.result.add(str("bleu", c), kit::fixed(one.mean(&Outcome::greedy), 3));
    example.result.add(str("loss", c), kit::fixed(one.mean(&Outcome::new_loss), 2));
    if (c == 0 || all[c].model.norm_kind != nn::NormKind::layer) norms.push_back(one.curve(&Outcome::epochs));
  }
  norms.front().name = "layer norm";
  std::cout << table.text();
  kit::save(example.out / "norms.svg",
            kit::line_plot(norms, {.title = str("Post-norm with other norms, mean of ", config.seeds, " seeds"),
                                   .x_label = "epoch",
                                   .y_label = "loss per target token (nats)",
                                   .y_scale = kit::Scale::log}));
}

}  // namespace

int experiments::choices(int argc, char** argv) {
  const auto options = [](kit::Options& o, Config& c) {
    kit::add_corpus_options(o, c.corpus);
    o.integer("--epochs", c.epochs, "times that every pair is seen", 1, 1'000'000);
    o.integer("--seeds", c.seeds, "train everything so many times", 1, 1000);
  };
  return kit::main<Config>(argc, argv, "choices", "A transformer that translates, with one choice changed at a time.",
                           options, run);
}
