// Translations, with the beam of every step, the probabilities of every word, and where each word attends to.
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "live.h"
#include "translator.h"

namespace live {
namespace {

using namespace xgrad;

std::unique_ptr<const Translator> translator;
Json about;

// The most probable next words after a prefix, with the words that were chosen there, if they are not among them.
Json next_words(const SearchStep& step, std::int64_t row, std::int64_t count, std::int64_t chosen) {
  const std::int64_t V = step.log_p.dim(1);
  const Real* const log_p = step.log_p.data() + row * V;
  std::vector<std::int64_t> order(static_cast<std::size_t>(V));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater(), [&](std::int64_t token) { return log_p[token]; });
  Json list = Json::array();
  for (std::int64_t rank = 0; rank < V; ++rank) {
    const std::int64_t token = order[static_cast<std::size_t>(rank)];
    if (rank >= count && token != chosen) continue;
    list.push_back({{"word", translator->target().token(token)},
                    {"p", std::exp(static_cast<double>(log_p[token]))},
                    {"rank", rank + 1},
                    {"chosen", token == chosen}});
  }
  return list;
}

// What a search says of one of its results: for each word and the end its alternatives, and its attention, averaged
// over layers and heads and by layer and head.
Json hypothesis(const Found& found, const nn::Hypothesis& each, std::int64_t keys, std::int64_t top) {
  std::vector<std::int64_t> tokens = each.tokens;
  if (each.ended) tokens.push_back(translator->target().id("<eos>"));
  Json steps = Json::array();
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    Json by_layer = Json::array();
    std::vector<double> mean(static_cast<std::size_t>(keys), 0);
    for (std::int64_t layer = 0; layer < translator->layers(); ++layer) {
      const Array& weights =
          found.attention[t * static_cast<std::size_t>(translator->layers()) + static_cast<std::size_t>(layer)];
      Json by_head = Json::array();
      for (std::int64_t head = 0; head < weights.dim(1); ++head) {
        Json row = Json::array();
        for (std::int64_t s = 0; s < keys; ++s) {
          const double weight = static_cast<double>(weights.at({each.rows[t], head, 0, s}));
          row.push_back(weight);
          mean[static_cast<std::size_t>(s)] += weight / static_cast<double>(translator->layers() * weights.dim(1));
        }
        by_head.push_back(row);
      }
      by_layer.push_back(by_head);
    }
    steps.push_back({{"word", translator->target().token(tokens[t])},
                     {"next", next_words(found.steps[t], each.rows[t], top, tokens[t])},
                     {"attention", mean},
                     {"heads", by_layer}});
  }
  return {{"words", translator->words_of(each.tokens)},
          {"ended", each.ended},
          {"log_p", each.log_p},
          {"score", each.score},
          {"rows", each.rows},
          {"steps", steps}};
}

Json translate(const Json& request) {
  const kit::Tokens words = kit::words(kit::preprocess(request.at("text").get<std::string>()));
  const Found found = translator->search(
      words, {.beams = request.value("beams", 4), .length_penalty = request.value("length_penalty", 0.75)});
  const std::int64_t top = request.value("top", 5);
  Json unknown = Json::array(), hypotheses = Json::array(), steps = Json::array();
  kit::Tokens read;
  for (const std::string& word : words) {
    const bool known = translator->source().contains(word);
    if (!known) unknown.push_back(word);
    read.push_back(known ? word : "<unk>");
  }
  read.push_back("<eos>");
  for (const nn::Hypothesis& each : found.hypotheses)
    hypotheses.push_back(hypothesis(found, each, std::ssize(read), top));
  for (const SearchStep& step : found.steps) {
    Json prefixes = Json::array();
    for (std::size_t row = 0; row < step.prefixes.size(); ++row) {
      const Prefix& prefix = step.prefixes[row];
      prefixes.push_back({{"words", translator->words_of(prefix.tokens)},
                          {"log_p", prefix.log_p},
                          {"parent", prefix.parent},
                          {"next", next_words(step, static_cast<std::int64_t>(row), top, -1)}});
    }
    steps.push_back(prefixes);
  }
  return {{"words", words}, {"read", read}, {"unknown", unknown}, {"hypotheses", hypotheses}, {"steps", steps}};
}

}  // namespace

Json translation(const Json& request) {
  const std::string task = request.value("do", "translate");
  if (task == "load") {
    const StateFile file = load_safetensors(request.at("path"));
    auto loaded = std::make_unique<Translator>(file);
    about = Json::parse(file.text("about"));
    about["parameters"] = loaded->parameters();
    about["max_words"] = loaded->max_words();
    translator = std::move(loaded);
    return about;
  }
  if (!translator) fail<ValueError>("translation", "there is no model yet");
  if (task != "translate") fail<ValueError>("translation", "what is \"", task, "\"?");
  return translate(request);
}

}  // namespace live
