// What a run shows and leaves behind.
#include "report.h"

#include <array>
#include <fstream>
#include <iostream>

#include <kit/bleu.h>
#include <kit/csv.h>
#include <kit/format.h>
#include <kit/heatmap.h>
#include <kit/output.h>
#include <kit/plot.h>
#include <xgrad/xgrad.h>

#include "training.h"

namespace translate {
namespace {

using namespace xgrad;

constexpr int bleu_order = 2;

// The four sentences of the book, with what it expects.
struct Known {
  const char* source;
  const char* target;
};
constexpr std::array<Known, 4> known{{{"go .", "va !"},
                                      {"i lost .", "j'ai perdu ."},
                                      {"he's calm .", "il est calme ."},
                                      {"i'm home .", "je suis chez moi ."}}};

std::vector<kit::Tokens> translations(const Config& config, const Data& data, const Translator& model,
                                      const std::vector<kit::Tokens>& sentences) {
  const Batch batch = data.sources(sentences);
  const Index ids = model.translate(batch.source, batch.source_lengths,
                                    {.bos = data.bos(), .eos = data.eos(), .max_length = config.steps});  // (N, L)
  std::vector<kit::Tokens> result;
  const auto T = static_cast<std::size_t>(ids.dim(1));
  for (std::size_t i = 0; i < sentences.size(); ++i) result.push_back(data.words({ids.data() + i * T, T}));
  return result;
}

// The weights of all layers whose names end in `kind`, with their heads, in one picture. Columns behind the keys are
// padding and are left out.
void draw_attention(const std::filesystem::path& path, const std::string& title, const nn::AttentionRecorder& recorder,
                    const std::string& kind, kit::HeatMaps maps) {
  std::vector<double> weights;
  std::size_t layers = 0;
  for (const auto& [name, w] : recorder.records()) {  // (1, H, T, S)
    if (!name.ends_with(kind)) continue;
    ++layers;
    maps.columns = static_cast<std::size_t>(w.dim(1));
    for (std::int64_t h = 0; h < w.dim(1); ++h) {
      for (std::int64_t q = 0; q < std::ssize(maps.queries); ++q) {
        for (std::int64_t k = 0; k < std::ssize(maps.keys); ++k) weights.push_back(w.at({0, h, q, k}));
      }
    }
  }
  maps.title = title;
  maps.panels = kit::attention_panels(weights, layers, maps.columns);
  kit::save_text(path, kit::heat_map_svg(maps));
}

// True where a word would have to look ahead.
std::vector<bool> ahead(std::size_t words) {
  std::vector<bool> mask;
  for (std::size_t q = 0; q < words; ++q) {
    for (std::size_t k = 0; k < words; ++k) mask.push_back(k > q);
  }
  return mask;
}

void draw_heat_maps(const Config& config, const Data& data, const Translator& model, const std::filesystem::path& out) {
  kit::Tokens source = kit::words(known.back().source);
  const kit::Tokens target = translations(config, data, model, {source}).front();
  const Batch batch = data.sources({source});
  Index shown(Shape{1, static_cast<std::int64_t>(target.size()) + 1});
  shown.mutable_data()[0] = data.bos();
  for (std::size_t i = 0; i < target.size(); ++i) shown.mutable_data()[i + 1] = data.target_vocab().id(target[i]);

  const NoGrad off;
  const nn::Eval eval(model);
  const nn::AttentionRecorder recorder;
  model(batch.source, batch.source_lengths, shown);
  source.push_back("<eos>");
  kit::Tokens queries{"<bos>"};
  queries.insert(queries.end(), target.begin(), target.end());
  draw_attention(out / "attention_encoder.svg", "Encoder self-attention", recorder, ".attn",
                 {.title = {}, .queries = source, .keys = source, .panels = {}, .query_caption = "query (source)"});
  draw_attention(out / "attention_decoder.svg", "Decoder self-attention", recorder, ".self_attn",
                 {.title = {},
                  .queries = queries,
                  .keys = queries,
                  .panels = {},
                  .masked = ahead(queries.size()),
                  .key_caption = "key (target)"});
  draw_attention(out / "attention_cross.svg", "Decoder attention to the encoder", recorder, ".cross_attn",
                 {.title = {}, .queries = queries, .keys = source, .panels = {}});
}

// loss.csv as a curve: the file has the epochs of earlier runs, too.
void draw_loss(const std::filesystem::path& out) {
  std::ifstream file(out / "loss.csv");
  kit::Series curve{.name = "training loss", .x = {}, .y = {}};
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    const std::size_t comma = line.find(',');
    curve.x.push_back(std::stod(line.substr(0, comma)));
    curve.y.push_back(std::stod(line.substr(comma + 1)));
  }
  kit::save_text(out / "loss.svg", kit::line_plot({curve}, {.title = "English to French",
                                                            .x_label = "epoch",
                                                            .y_label = "loss per target token",
                                                            .y_scale = kit::Scale::log}));
}

// The model in some detail, and one training step, forward and backward, with its parts folded.
void draw_graphs(const Config& config, const Data& data, const Translator& model, const std::filesystem::path& out) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < static_cast<std::size_t>(std::min(config.batch, data.size())); ++i) rows.push_back(i);
  const Tensor loss = batch_loss(model, data.batch(rows), data.pad()).named("loss");
  save_graph((out / "model.svg").string(), {loss}, {.title = "The translation transformer"});

  Tensors step = grad(loss, model.parameters(), {.create_graph = true});
  step.insert(step.begin(), loss);
  const GraphOptions folded{.title = "One training step: the loss, and the gradients of all parameters", .depth = 1};
  for (const char* name : {"graph.dot", "graph.svg"}) save_graph((out / name).string(), step, folded);
}

}  // namespace

std::string introduction(const Config& config, const Data& data, const Translator& model) {
  return cat(to_string(build_info()), "\n", config.data.filename().string(), ": ", data.size(),
             " pairs, vocabularies of ", data.source_vocab().size(), " and ", data.target_vocab().size(), " words; ",
             data.held_out().size(), " sentences held out\n", "transformer of ", config.layers, " + ", config.layers,
             " layers, width ", config.dim, ", ", config.heads, " heads: ", model.num_parameters(), " parameters\n");
}

void report(const Config& config, const Data& data, const Translator& model, const std::filesystem::path& out,
            const Summary& summary) {
  std::vector<kit::Tokens> sources;
  for (const Known& pair : known) sources.push_back(kit::words(pair.source));
  const std::vector<kit::Tokens> learnt = translations(config, data, model, sources);
  std::array<double, known.size()> scores{};
  std::cout << "\nlearnt\n";
  for (std::size_t i = 0; i < known.size(); ++i) {
    scores[i] = kit::bleu(learnt[i], kit::words(known[i].target), bleu_order);
    std::cout << "  " << known[i].source << " => " << kit::joined(learnt[i]) << "   BLEU " << kit::fixed(scores[i], 3)
              << "\n";
  }

  double held_out = 0;
  if (!data.held_out().empty()) {
    sources.clear();
    for (const Question& question : data.held_out()) sources.push_back(question.source);
    const std::vector<kit::Tokens> guessed = translations(config, data, model, sources);
    std::cout << "never seen\n";
    for (std::size_t i = 0; i < guessed.size(); ++i) {
      const double score = kit::best_bleu(guessed[i], data.held_out()[i].answers, bleu_order);
      held_out += score / static_cast<double>(guessed.size());
      if (i < 6) {
        std::cout << "  " << kit::joined(sources[i]) << " => " << kit::joined(guessed[i]) << "   BLEU "
                  << kit::fixed(score, 3) << "  (" << kit::joined(data.held_out()[i].answers.front()) << ")\n";
      }
    }
    std::cout << "  mean BLEU of " << guessed.size() << " sentences: " << kit::fixed(held_out, 3) << "\n";
  }

  draw_loss(out);
  draw_heat_maps(config, data, model, out);
  draw_graphs(config, data, model, out);
  std::cout << "\n"
            << out.string()
            << ": checkpoint.safetensors, loss.csv, loss.svg, attention_encoder.svg, attention_decoder.svg, "
               "attention_cross.svg, model.svg, graph.dot, graph.svg\n";

  kit::ResultLine line;
  line.add("loss", kit::fixed(summary.loss, 4));
  for (std::size_t i = 0; i < scores.size(); ++i) line.add(cat("bleu", i + 1), kit::fixed(scores[i], 3));
  line.add("held_out_bleu", kit::fixed(held_out, 3))
      .add("tokens_per_second",
           kit::fixed(summary.seconds > 0 ? static_cast<double>(summary.tokens) / summary.seconds : 0, 0))
      .add("seconds", kit::fixed(summary.seconds, 1))
      .add("out", out.string())
      .print();
}

}  // namespace translate
