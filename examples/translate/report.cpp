// What a run shows and leaves behind.
#include "report.h"

#include <array>
#include <iostream>

#include <xgrad/kit/data/csv.h>
#include <xgrad/kit/draw/attention.h>
#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/program/format.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/kit/text/bleu.h>
#include <xgrad/xgrad.h>

#include "training.h"

namespace translate {
namespace {

constexpr int bleu_order = 2;

// The likeliest next word, again and again.
std::vector<kit::Tokens> translations(const Config& config, const kit::Corpus& data, const nn::EncoderDecoder& model,
                                      const std::vector<kit::Tokens>& sentences) {
  const nn::Eval eval(model);
  const kit::CorpusBatch batch = data.sources(sentences);
  auto decoding = model.start(batch.source, batch.source_lengths);
  const nn::GreedyOptions options{.bos = data.bos(), .eos = data.eos(), .max_length = config.corpus.steps};
  return data.sentences(nn::greedy(decoding, options).tokens);
}

// What every layer and head looked at while the last known sentence was translated, word by word.
void draw_heat_maps(const Config& config, const kit::Corpus& data, const nn::EncoderDecoder& model,
                    const std::filesystem::path& out) {
  kit::Tokens source = kit::words(kit::known_pairs.back().source);
  nn::AttentionRecorder recorder;
  kit::Tokens shown = translations(config, data, model, {source}).front();
  const std::int64_t S = config.corpus.steps;
  const Array encoder = kit::attention_weights(recorder, ".attn");                    // (layers, H, S, S)
  const Array decoder = kit::attention_weights(recorder, ".self_attn", {.keys = S});  // (layers, H, T, S)
  const Array cross = kit::attention_weights(recorder, ".cross_attn");                // (layers, H, T, S)

  source.push_back("<eos>");
  shown.resize(static_cast<std::size_t>(cross.dim(2)), "<eos>");
  const std::int64_t N = cross.dim(3) / S;  // encoder layers that are attended to at once
  kit::Tokens memory;
  for (const std::string& key : source) {
    for (std::int64_t layer = 1; layer <= N; ++layer) memory.push_back(N == 1 ? key : cat(key, " ", layer));
  }
  const kit::HeatMaps from_source =
      kit::cross_maps(shown, memory, {.title = "Decoder attention to the encoder", .keys = cross.dim(3)});
  const auto draw = [&](const char* file, const Array& weights, const kit::HeatMaps& maps) {
    kit::save_text(out / file, kit::attention_svg(weights, maps));
  };
  draw("attention_encoder.svg", encoder,
       kit::encoder_maps(source, {.title = "Encoder self-attention", .queries = S, .keys = S}));
  draw("attention_decoder.svg", decoder,
       kit::decoder_maps("<bos>", shown, {.title = "Decoder self-attention", .keys = S}));
  draw("attention_cross.svg", cross, from_source);
  kit::HeatMaps aligned = from_source;
  aligned.title = "What each word came from";
  kit::save_text(out / "alignment.svg", kit::alignment_svg(cross, aligned));
  std::cout << "attention: encoder " << cat(encoder.shape()) << ", decoder " << cat(decoder.shape())
            << ", decoder to encoder " << cat(cross.shape()) << "\n"
            << kit::alignment_text(cross, aligned);
}

// loss.csv as a curve: the file has the epochs of earlier runs, too.
void draw_loss(const std::filesystem::path& out) {
  const std::vector<std::vector<double>> log = kit::read_csv(out / "loss.csv", log_columns);
  const kit::Series curve{.name = "training loss", .x = log[0], .y = log[1]};
  kit::save_text(out / "loss.svg", kit::line_plot({curve}, {.title = "English to French",
                                                            .x_label = "epoch",
                                                            .y_label = "loss per target token",
                                                            .y_scale = kit::Scale::log}));
}

// The model in some detail, and one training step, forward and backward, with its parts folded.
void draw_graphs(const Config& config, const kit::Corpus& data, const nn::EncoderDecoder& model,
                 const std::filesystem::path& out) {
  const kit::CorpusBatch batch = data.batch(arange(std::min(config.batch, data.size())));
  const Tensor loss = batch_loss(model, data, batch).named("loss");
  save_graph((out / "model.svg").string(), {loss}, {.title = "The translation transformer"});

  Tensors step = grad(loss, model.parameters(), {.create_graph = true});
  step.insert(step.begin(), loss);
  const GraphOptions folded{.title = "One training step: the loss, and the gradients of all parameters", .depth = 1};
  for (const char* name : {"graph.dot", "graph.svg"}) save_graph((out / name).string(), step, folded);
}

}  // namespace

std::string introduction(const Config& config, const kit::Corpus& data, const nn::EncoderDecoder& model) {
  return cat(config.corpus.file.filename().string(), ": ", data.size(), " pairs, vocabularies of ",
             data.source_vocab().size(), " and ", data.target_vocab().size(), " words; ", data.held_out().size(),
             " sentences held out\n", "transformer of ", config.layers, " + ", config.layers, " layers, width ",
             config.dim, ", ", config.heads, " heads: ", model.num_parameters(), " parameters\n");
}

void report(const Config& config, const kit::Corpus& data, const nn::EncoderDecoder& model, const Summary& summary,
            kit::Example& example) {
  std::vector<kit::Tokens> sources;
  for (const kit::KnownPair& pair : kit::known_pairs) sources.push_back(kit::words(pair.source));
  const std::vector<kit::Tokens> learnt = translations(config, data, model, sources);
  std::array<double, kit::known_pairs.size()> scores{};
  std::cout << "\nlearnt\n";
  for (std::size_t i = 0; i < kit::known_pairs.size(); ++i) {
    scores[i] = kit::bleu(learnt[i], kit::words(kit::known_pairs[i].target), bleu_order);
    std::cout << "  " << kit::known_pairs[i].source << " => " << kit::joined(learnt[i]) << "   BLEU "
              << kit::fixed(scores[i], 3) << "\n";
  }

  double held_out = 0;
  if (!data.held_out().empty()) {
    sources = data.held_out_sources();
    const std::vector<kit::Tokens> guessed = translations(config, data, model, sources);
    held_out = kit::mean_bleu(guessed, data.held_out(), bleu_order);
    std::cout << "never seen\n";
    for (std::size_t i = 0; i < std::min<std::size_t>(6, guessed.size()); ++i) {
      const double score = kit::best_bleu(guessed[i], data.held_out()[i].answers, bleu_order);
      std::cout << "  " << kit::joined(sources[i]) << " => " << kit::joined(guessed[i]) << "   BLEU "
                << kit::fixed(score, 3) << "  (" << kit::joined(data.held_out()[i].answers.front()) << ")\n";
    }
    std::cout << "  mean BLEU of " << guessed.size() << " sentences: " << kit::fixed(held_out, 3) << "\n";
  }

  draw_loss(example.out);
  draw_heat_maps(config, data, model, example.out);
  draw_graphs(config, data, model, example.out);

  example.result.add("loss", kit::fixed(summary.loss, 4));
  for (std::size_t i = 0; i < scores.size(); ++i) example.result.add(cat("bleu", i + 1), kit::fixed(scores[i], 3));
  example.result.add("held_out_bleu", kit::fixed(held_out, 3))
      .add("tokens_per_second",
           kit::fixed(summary.seconds > 0 ? static_cast<double>(summary.tokens) / summary.seconds : 0, 0))
      .add("seconds", kit::fixed(summary.seconds, 1));
}

}  // namespace translate
