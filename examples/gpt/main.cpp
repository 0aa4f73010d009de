// A GPT learns to write: each character of a text from those before it.
//
//   examples/run gpt [--data FILE] [--steps N] [--prompt TEXT] [--resume] [--seed N] [--out FOLDER] ...
//   examples/run gpt --weights FOLDER --prompt TEXT           the published GPT-2 in the folder goes on writing
//
// Read this file from top to bottom: model, data, training. The same program in PyTorch is beside it, pytorch.py. (The
// library's own GPT, nn::Gpt, keeps what it has read while it writes, and loads published weights.)
#include <chrono>
#include <iostream>

#include <xgrad/kit/data/data.h>
#include <xgrad/kit/files/text_file.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/text/tokenizer.h>
#include <xgrad/kit/train/metrics.h>
#include <xgrad/kit/train/trainer.h>
#include <xgrad/xgrad.h>

namespace {

using namespace xgrad;

// -- model ------------------------------------------------------------------------------------------------------------

struct Sizes {
  std::int64_t vocabulary = 0;  // V
  std::int64_t context = 64;    // T
  std::int64_t dim = 128;       // C
  std::int64_t heads = 4;
  std::int64_t layers = 4;
};

struct Block : nn::Layer<Block, Sizes> {
  using Layer::Layer;
  nn::LayerNorm norm1{at("norm1"), options.dim};
  nn::MultiHeadAttention attention{at("attention"), options.dim, options.heads, {.bias = true, .packed = true}};
  nn::LayerNorm norm2{at("norm2"), options.dim};
  nn::Mlp mlp{at("mlp"), {.in = options.dim, .hidden = 4 * options.dim, .activation = gelu}};

  Tensor forward(const Tensor& x) const {  // (B, T, C) -> (B, T, C)
    const Tensor h = x + attention(norm1(x), nn::causal);
    return h + mlp(norm2(h));
  }
};

struct Gpt : nn::Layer<Gpt, Sizes> {
  nn::Embedding embedding{at("embedding"), options.vocabulary, options.dim};
  nn::Embedding position{at("position"), options.context, options.dim};
  nn::Stack<Block> blocks{at("blocks"), options.layers, options};
  nn::LayerNorm norm{at("norm"), options.dim};

  explicit Gpt(nn::At here, const Sizes& sizes) : Layer(here, sizes) {
    for (const auto& [name, parameter] : named_parameters()) {
      if (parameter.rank() == 2) nn::init::reset(parameter, nn::init::normal({.std = 0.02}));
      if (name.ends_with("bias")) nn::init::reset(parameter, nn::init::zeros());
    }
  }

  Tensor forward(const Index& ids) const {  // (B, T) -> logits (B, T, V)
    const Tensor x = embedding(ids) + position(arange(ids.dim(1)));
    return linear(norm(blocks(x)), embedding.weight);
  }
};

// Draws one character after the other, each from the model's prediction after those before it.
std::string write(const Gpt& model, const kit::Tokenizer& tokenizer, const std::string& prompt, std::int64_t length) {
  const nn::Eval eval(model);
  const NoGrad off;
  Index ids = unsqueeze(tokenizer.encode(prompt), 0);  // (1, T)
  for (std::int64_t i = 0; i < length; ++i) {
    const Index seen = ids[{_, slice(std::max<std::int64_t>(0, ids.dim(1) - model.options.context), none)}];
    const Tensor logits = model(seen)[{_, -1}] / 0.8;  // (1, V)
    ids = concat(std::vector<Index>{ids, multinomial(softmax(logits), 1)}, 1);
  }
  return tokenizer.decode(ids.reshaped({ids.size()}));
}

// -- data -------------------------------------------------------------------------------------------------------------

// Windows of a text, `stride` apart: some characters, and for each of them the next one.
struct Windows {
  Index text;
  std::int64_t length, stride;

  std::int64_t size() const { return (text.size() - length - 1) / stride + 1; }
  std::pair<Index, Index> operator[](std::int64_t i) const {
    const std::int64_t begin = i * stride;
    return {text[{slice(begin, begin + length)}], text[{slice(begin + 1, begin + length + 1)}]};
  }
};

// -- training ---------------------------------------------------------------------------------------------------------

struct Config {
  std::string data = XGRAD_EXAMPLES_DIR "/data/pride_and_prejudice.txt";
  std::string weights;  // the folder of a published GPT-2
  std::string prompt = "\n";
  std::int64_t length = 200;  // tokens of a sample
  Sizes model;
  std::int64_t batch = 12;  // B
  std::int64_t steps = 2000;
  std::int64_t report_every = 250;  // steps
  bool resume = false;
};

void train(const Config& config, kit::Example& example) {
  const std::string text = kit::load_text(config.data);
  const kit::CharacterTokenizer tokenizer(text);
  const Index ids = tokenizer.encode(text);
  const std::int64_t most = ids.size() * 9 / 10, rest = ids.size() - most, context = config.model.context;
  if (rest <= context) fail<ValueError>("gpt", "a window has ", context + 1, " characters, the held-out text ", rest);
  kit::DataLoader batches{Windows{ids[{slice(0, most)}], context, 1},
                          {.batch_size = config.batch, .shuffle = true, .seed = example.seed}};
  kit::DataLoader held_out{Windows{ids[{slice(most, none)}], context, context}, {.batch_size = 64}};

  Sizes sizes = config.model;
  sizes.vocabulary = tokenizer.size();
  const Gpt model{nn::root, sizes};
  std::cout << model << "before training:\n" << write(model, tokenizer, config.prompt, config.length) << "\n";

  optim::AdamW adam{optim::parameter_groups<optim::AdamWOptions>(
      model.parameters(), {{nn::without_weight_decay(model), {.betas = {0.9, 0.99}, .weight_decay = 0}}},
      {.betas = {0.9, 0.99}, .weight_decay = 0.1})};
  const std::int64_t warmup = 100, decay = std::max<std::int64_t>(1, config.steps - warmup);

  const auto mean_loss = [&] {
    kit::RunningAverage loss;
    for (const auto& [x, y] : held_out) loss.add(cross_entropy(model(x), y).item(), x.dim(0));
    return kit::Scores{{"held_out_loss", loss.value()}};
  };
  const auto sample = [&](const kit::Report& report) {
    std::cout << "\nstep " << report.step << ": loss " << report.loss << ", held out " << report.scores.values[0].second
              << "\n"
              << write(model, tokenizer, config.prompt, config.length) << "\n";
  };
  kit::Trainer trainer{
      model,
      adam,
      {.steps = config.steps,
       .schedule = optim::schedule::warmup(warmup, optim::schedule::cosine({.min_lr = 1e-4, .steps = decay})),
       .max_norm = 1,
       .validate = mean_loss,
       .validate_every = config.report_every,
       .folder = example.out,
       .resume = config.resume,
       .attributes = {{"heads", sizes.heads}, {"steps", config.steps}, {"text", kit::fingerprint(text)}},
       .interruptible = true,
       .on_report = sample}};
  const auto begin = std::chrono::steady_clock::now();
  trainer.fit(batches, [&](const Index& x, const Index& y) { return cross_entropy(model(x), y); });  // (B, T), (B, T)
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  example.result.add("steps", trainer.steps()).add("seconds", seconds.count());
  example.result.add("validation_loss", trainer.history().back().scores.values[0].second);
}

void write_on(const Config& config, Seed seed) {
  const nn::Gpt model{nn::root, nn::gpt2_options(config.weights)};
  nn::load_gpt2(model, config.weights);
  const kit::BpeTokenizer tokenizer = kit::BpeTokenizer::read(config.weights);
  const nn::Decoded text = model.generate(unsqueeze(tokenizer.encode(config.prompt), 0),
                                          {.max_length = config.length, .temperature = 0.8, .top_k = 50, .seed = seed});
  std::cout << config.prompt << tokenizer.decode(text.tokens.reshaped({text.tokens.size()})) << "\n";
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = [](kit::Options& o, Config& c) {
    o.text("--data", c.data, "text file, UTF-8, plain or gzip");
    o.text("--weights", c.weights, "folder of a published GPT-2, which writes instead of being trained");
    o.text("--prompt", c.prompt, "the beginning of samples");
    o.integer("--length", c.length, "tokens of a sample", 1, 1'000'000);
    o.integer("--context", c.model.context, "characters of a window", 1, 100'000);
    o.integer("--dim", c.model.dim, "width of the model", 1, 100'000);
    o.integer("--heads", c.model.heads, "heads of attention", 1, 1000);
    o.integer("--layers", c.model.layers, "blocks", 1, 1000);
    o.integer("--batch", c.batch, "windows per step", 1, 100'000);
    o.integer("--steps", c.steps, "training steps", 1, 1'000'000'000);
    o.integer("--report-every", c.report_every, "steps from one report to the next", 1, 1'000'000'000);
    o.flag("--resume", c.resume, "go on from the checkpoint in the folder");
  };
  const auto run = [](const Config& c, kit::Example& example) {
    if (c.prompt.empty()) fail<ValueError>("gpt", "the prompt is empty");
    c.weights.empty() ? train(c, example) : write_on(c, example.seed);
  };
  return kit::main<Config>(argc, argv, "gpt",
                           "A GPT that learns to write, character by character, or writes with published weights.",
                           options, run);
}
