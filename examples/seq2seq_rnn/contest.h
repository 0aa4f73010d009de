// The contest: four models, trained and judged alike.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <vector>

#include <xgrad/kit/text/corpus.h>
#include <xgrad/xgrad.h>

namespace seq2seq_rnn {

using namespace xgrad;

struct Config {
  // the first 600 pairs of the file, 10 tokens each, words seen once unknown
  kit::CorpusOptions corpus{.file = XGRAD_EXAMPLES_DIR "/translate/data/en-fr.tsv"};

  // recurrent models; the transformer is that of examples/translate
  std::int64_t embed = 32;   // e
  std::int64_t hidden = 32;  // h
  std::int64_t layers = 2;
  double dropout = 0.1;

  // training, the same for all
  std::int64_t epochs = 100;
  std::int64_t batch = 64;  // B
  double learning_rate = 0.005;
  double clip = 1;         // the norm of all gradients together is at most this
  std::int64_t seeds = 3;  // train each model so many times
};

constexpr int bleu_order = 2;

// ---- One model ------------------------------------------------------------------------------------------------------

/// What the training of one model came to.
struct Trial {
  std::int64_t parameters = 0;
  double seconds = 0;
  std::vector<double> losses = {};        // of every epoch, per target token
  std::vector<kit::Tokens> guesses = {};  // for the sentences held out
  double bleu = 0;                        // of these
};

template <class Model>
std::vector<kit::Tokens> translations(const Config& config, const kit::Corpus& corpus, const Model& model,
                                      const std::vector<kit::Tokens>& sentences) {
  if (sentences.empty()) return {};
  const nn::Eval eval(model);
  const kit::CorpusBatch batch = corpus.sources(sentences);
  auto decoding = model.start(batch.source, batch.source_lengths);
  const nn::GreedyOptions options{.bos = corpus.bos(), .eos = corpus.eos(), .max_length = config.corpus.steps};
  return corpus.sentences(nn::greedy(decoding, options).tokens);
}

/// Every pair once; the loss is counted as in examples/translate.
template <class Model>
double run_epoch(const Config& config, const kit::Corpus& corpus, const Model& model, optim::Adam& adam,
                 const Index& order) {
  const Tensors parameters = model.parameters();
  double loss_sum = 0, tokens = 0;
  for (std::int64_t begin = 0; begin < order.size(); begin += config.batch) {
    const kit::CorpusBatch batch = corpus.batch(order[{slice(begin, begin + config.batch)}]);
    const Index before = nn::shift_right(batch.target, corpus.bos());
    const Tensor logits = model(batch.source, batch.source_lengths, before);  // (B, T, V)
    const Tensor loss =
        cross_entropy(logits, batch.target, {.ignore_index = corpus.pad(), .reduction = Reduction::sum}) /
        static_cast<Real>(batch.target.dim(1));
    adam.step(optim::clip_grad_norm(grad(loss, parameters), parameters, config.clip).gradients);
    loss_sum += loss.item();
    tokens += static_cast<double>(batch.tokens);
  }
  return loss_sum / tokens;
}

using AfterEpoch = std::function<void(double loss)>;

template <class Model>
Trial train(const Config& config, const kit::Corpus& corpus, const Model& model, std::uint64_t seed,
            const AfterEpoch& after_epoch) {
  Trial trial{.parameters = model.num_parameters()};
  optim::Adam adam(model.parameters(), {.lr = config.learning_rate});
  const auto begin = std::chrono::steady_clock::now();
  for (std::int64_t epoch = 0; epoch < config.epochs; ++epoch) {
    const Index order = random_permutation(corpus.size(), {.seed = seed, .draw = static_cast<std::uint64_t>(epoch)});
    trial.losses.push_back(run_epoch(config, corpus, model, adam, order));
    after_epoch(trial.losses.back());
  }
  trial.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  trial.guesses = translations(config, corpus, model, corpus.held_out_sources());
  trial.bleu = kit::mean_bleu(trial.guesses, corpus.held_out(), bleu_order);
  return trial;
}

// ---- The contestants ------------------------------------------------------------------------------------------------

struct Contestant {
  const char* name;
  const char* what;
};
constexpr std::array<Contestant, 4> contestants{{{"D2a", "last state beside every input"},
                                                 {"D2b", "last state first, source reversed"},
                                                 {"D3", "attention"},
                                                 {"transformer", "of examples/translate"}}};

inline nn::Seq2SeqOptions recurrent_options(const Config& config, std::size_t contestant) {
  constexpr std::array contexts{nn::Context::every_step, nn::Context::initial_state, nn::Context::attention};
  return {.context = contexts.at(contestant),
          .embed = config.embed,
          .hidden = config.hidden,
          .layers = config.layers,
          .dropout = config.dropout,
          .reverse_source = contexts.at(contestant) == nn::Context::initial_state};
}

struct Transformer : nn::EncoderDecoder {
  Transformer(const Config& config, const kit::Corpus& corpus)
      : EncoderDecoder(nn::root, corpus.source_vocab().size(), corpus.target_vocab().size(),
                       {.dim = 32, .ffn = 64, .heads = 4, .layers = 2, .max_length = config.corpus.steps + 1}) {
    apply<nn::Linear>([](const nn::Linear& map) { nn::init::reset(map.weight, nn::init::xavier_uniform()); });
  }
};

}  // namespace seq2seq_rnn
