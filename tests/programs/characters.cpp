// An LSTM and a GPT learn to write, character by character, from a text file: with a schedule, clipped gradients,
// validation, samples, checkpoints, and a run that is interrupted and goes on bit for bit.
#include <filesystem>
#include <iostream>

#include <xgrad/kit/data/data.h>
#include <xgrad/kit/text/tokenizer.h>
#include <xgrad/kit/train/metrics.h>
#include <xgrad/kit/train/trainer.h>
#include <xgrad/xgrad.h>

using namespace xgrad;

constexpr std::int64_t context = 32;

// Windows of a text: sample i is some characters, and for each of them the one behind it.
struct Windows {
  Index text;

  std::int64_t size() const { return (text.size() - 1) / context; }
  std::pair<Index, Index> operator[](std::int64_t i) const {
    const std::int64_t begin = i * context;
    return {text[{slice(begin, begin + context)}], text[{slice(begin + 1, begin + context + 1)}]};
  }
};

struct LstmModel : nn::Module {
  std::int64_t vocabulary;
  nn::Embedding embedding{at("embedding"), vocabulary, 32};
  nn::LSTM lstm{at("lstm"), 32, 96};
  nn::Linear head{at("head"), 96, vocabulary};
  explicit LstmModel(std::int64_t vocabulary) : vocabulary(vocabulary) {}

  Tensor operator()(const Index& ids) const { return head(lstm(embedding(ids)).output); }  // (B, T) -> (B, T, V)
};

struct Text {
  kit::CharacterTokenizer tokenizer;
  Windows train, held_out;

  explicit Text(const std::string& text) : tokenizer(text) {
    const Index ids = tokenizer.encode(text);
    const std::int64_t most = ids.size() * 9 / 10;
    train.text = ids[{slice(0, most)}];
    held_out.text = ids[{slice(most, ids.size())}];
  }
};

// Trains a model on the text, from its checkpoint if there is one, and returns the perplexity of what was held out.
template <class Model>
double train(Model& model, const Text& text, const std::filesystem::path& folder, std::int64_t stop_after) {
  optim::AdamW adam{model.parameters(), {.lr = 4e-3, .weight_decay = 0.01}};
  kit::DataLoader batches{text.train, {.batch_size = 16, .shuffle = true, .drop_last = true, .seed = 1}};
  kit::DataLoader validation{text.held_out, {.batch_size = 64}};
  const std::int64_t epochs = 3, steps = epochs * batches.size();

  kit::TrainerOptions options{.epochs = epochs, .max_norm = 1, .folder = folder, .resume = true};
  options.schedule = optim::schedule::warmup(20, optim::schedule::cosine({.min_lr = 4e-4, .steps = steps - 20}));
  options.validate = [&] {
    kit::Perplexity perplexity;
    for (const auto& [ids, next] : validation) perplexity.add(model(ids), next);
    return perplexity.value();
  };
  kit::Trainer* running = nullptr;
  options.on_step = [&](const kit::StepReport& report) {
    if (report.step == stop_after) running->stop();
  };
  kit::Trainer trainer{model, adam, options};
  running = &trainer;
  trainer.fit(batches, [&](const Index& ids, const Index& next) { return cross_entropy(model(ids), next); });
  return trainer.history().empty() ? 0 : trainer.best().scores.values[0].second;
}

// Draws one character after the other, each from what the model makes of those before it.
template <class Model>
std::string write(const Model& model, const Text& text, const std::string& prompt) {
  const nn::Eval eval(model);
  const NoGrad off;
  Index ids = text.tokenizer.encode(prompt);
  for (int i = 0; i < 80; ++i) {
    const Index last = ids[{slice(std::max<std::int64_t>(0, ids.size() - context), ids.size())}];
    const Tensor logits = model(last.reshaped({1, last.size()}))[{0, -1}];
    // The greatest of logits with Gumbel's noise is a draw from their softmax.
    const Tensor noise = -log(-log(clamp(rand(logits.shape()), {.min = 1e-6f, .max = 1 - 1e-6f})));
    ids = concat(std::vector<Index>{ids, argmax(logits / 0.7f + noise, -1).reshaped({1})});
  }
  return text.tokenizer.decode(ids);
}

// Trains in one go, and once more with an interruption: both must end with the same numbers.
template <class Make>
bool learns(const std::string& name, const Text& text, const Make& make) {
  manual_seed(1);
  auto whole = make();
  const double perplexity = train(*whole, text, name + "_whole", -1);
  manual_seed(1);
  train(*make(), text, name + "_parts", 70);
  manual_seed(2);
  auto resumed = make();
  train(*resumed, text, name + "_parts", -1);
  bool same = true;
  for (std::size_t i = 0; i < whole->parameters().size(); ++i) {
    same = same && equal(whole->parameters()[i].value(), resumed->parameters()[i].value());
  }
  std::cout << name << ": perplexity " << perplexity << " of " << text.tokenizer.size() << ", resumed "
            << (same ? "bit for bit" : "with other numbers") << "\n"
            << write(*resumed, text, "Mr. ") << "\n";
  return same && perplexity < 11;
}

int main(int, char** argv) {
  const Text text(kit::load_text(argv[1]).substr(0, 100'000));
  const std::int64_t V = text.tokenizer.size();
  const bool lstm = learns("lstm", text, [&] { return std::make_unique<LstmModel>(V); });
  const nn::GptOptions small{.vocabulary = V, .context = context, .dim = 64, .heads = 4, .layers = 2};
  const bool gpt = learns("gpt", text, [&] { return std::make_unique<nn::Gpt>(nn::root, small); });
  return lstm && gpt ? 0 : 1;
}
