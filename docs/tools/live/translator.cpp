// A beam search whose steps are recorded.
#include "translator.h"

#include <span>

#include <nlohmann/json.hpp>

namespace live {
namespace {

using namespace xgrad;

// Passes everything on to a stepper, and records it.
class Recorded final : public nn::Stepper {
 public:
  explicit Recorded(nn::Stepper& inner) : inner_(inner), parents_(arange(inner.batch())) {}

  std::int64_t batch() const override { return inner_.batch(); }
  Tensor step(const Index& tokens) override {
    const Tensor logits = inner_.step(tokens);
    SearchStep now{.prefixes = {}, .log_p = log_softmax(logits).value()};
    for (std::int64_t i = 0; i < tokens.size(); ++i) {
      if (steps.empty()) {
        now.prefixes.emplace_back();
        continue;
      }
      const std::int64_t parent = parents_.data()[i], token = tokens.data()[i];
      Prefix longer = steps.back().prefixes[static_cast<std::size_t>(parent)];
      longer.tokens.push_back(token);
      longer.log_p += static_cast<double>(steps.back().log_p.at({parent, token}));
      longer.parent = parent;
      now.prefixes.push_back(std::move(longer));
    }
    steps.push_back(std::move(now));
    parents_ = arange(tokens.size());
    return logits;
  }
  void select(const Index& rows) override {
    inner_.select(rows);
    parents_ = rows;
  }

  std::vector<SearchStep> steps;

 private:
  nn::Stepper& inner_;
  Index parents_;
};

}  // namespace

Translator::Translator(const StateFile& file)
    : source_(nlohmann::json::parse(file.text("about")).at("source").get<kit::Tokens>()),
      target_(nlohmann::json::parse(file.text("about")).at("target").get<kit::Tokens>()),
      steps_(nlohmann::json::parse(file.text("about")).at("steps").get<std::int64_t>()),
      model_(nn::root, source_.size(), target_.size(),
             // As in examples/translate.
             nn::TransformerOptions{.dim = 32, .ffn = 64, .heads = 4, .layers = 2, .dropout = 0.1}) {
  model_.load_state_dict(file.arrays);
}

Found Translator::search(const kit::Tokens& words, const SearchOptions& options) const {
  const std::int64_t count = std::ssize(words);
  if (count == 0) fail<ValueError>("translation", "a sentence needs a word");
  if (count > max_words())
    fail<ValueError>("translation", count, " words and marks: the model has learned sentences of at most ",
                     max_words());
  const kit::SentenceArray read = kit::to_array(std::span(&words, 1), source_, steps_);
  auto decoding = model_.start(read.ids, read.lengths);
  const nn::AttentionRecorder recorder(model_.decoder);
  Recorded recorded(decoding);
  auto found = nn::beam_search(recorded, {.bos = target_.id("<bos>"),
                                          .eos = target_.id("<eos>"),
                                          .max_length = steps_,
                                          .num_beams = options.beams,
                                          .length_penalty = options.length_penalty,
                                          .num_best = 2 * options.beams});
  Found all{.hypotheses = std::move(found.front()), .steps = std::move(recorded.steps), .attention = {}};
  for (const auto& [path, weights] : recorder.records()) {
    if (path.ends_with(".cross_attn")) all.attention.push_back(weights);
  }
  return all;
}

kit::Tokens Translator::words_of(const std::vector<std::int64_t>& tokens) const {
  kit::Tokens words;
  for (const std::int64_t token : tokens) words.push_back(target_.token(token));
  return words;
}

}  // namespace live
