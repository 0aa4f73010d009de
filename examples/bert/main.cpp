// A BERT learns to fill in words: some words of a text are masked, and each is guessed from those on both sides of it.
//
//   examples/run bert [--data FILE] [--steps N] [--fill "you are very _ , sir ."] [--seed N] [--out FOLDER] ...
//
// Read this file from top to bottom. The model, nn::Bert, is in nn/models/bert.h.
#include <chrono>
#include <cmath>
#include <iostream>
#include <numeric>

#include <xgrad/kit/data/data.h>
#include <xgrad/kit/draw/attention.h>
#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/files/text_file.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/text/tokenizer.h>
#include <xgrad/kit/train/metrics.h>
#include <xgrad/kit/train/trainer.h>
#include <xgrad/xgrad.h>

namespace {

using namespace xgrad;

// -- settings ---------------------------------------------------------------------------------------------------------

struct Config {
  std::string data = XGRAD_EXAMPLES_DIR "/data/pride_and_prejudice.txt";
  int min_freq = 3;  // rarer words are <unk>, which is never masked
  std::vector<std::string> fill;

  // model
  std::int64_t context = 16;  // T: few words, so that their neighbours are soon learned
  std::int64_t dim = 128;     // C
  std::int64_t heads = 4;     // H
  std::int64_t layers = 2;
  double dropout = 0;

  // training
  std::int64_t steps = 2000;
  std::int64_t batch = 64;  // B
  double learning_rate = 2e-3;
  std::int64_t report_every = 200;  // steps
};

// -- data -------------------------------------------------------------------------------------------------------------

constexpr std::int64_t unknown = 0, mask = 1, words_from = 2;  // ids
constexpr std::int64_t not_asked = -1;                         // in place of a word
constexpr double share = 0.15;                                 // of the words, which are asked for
constexpr std::int64_t warmup = 200;                           // steps

struct Text {
  kit::WordTokenizer tokenizer;
  Index train, held_out;  // ids one after the other

  Text(const Config& config, const std::string& text)
      : tokenizer(text, {.min_freq = config.min_freq, .reserved = {"<unk>", "_"}}) {
    const Index ids = tokenizer.encode(text);
    const std::int64_t count = ids.size() * 9 / 10;
    train = ids[{slice(0, count)}];
    held_out = ids[{slice(count, ids.size())}];
    if (held_out.size() < config.context || tokenizer.size() == words_from) {
      fail<ValueError>("bert", config.data, " has ", ids.size(), " words, ", tokenizer.size() - words_from,
                       " of them seen ", config.min_freq, " times, which leaves ", held_out.size(),
                       " to be held out; at least ", config.context, " are needed");
    }
  }
};

// T words from each of these places on: (B, T).
Index windows(const Index& text, const Index& starts, std::int64_t T) { return text[unsqueeze(starts, 1) + arange(T)]; }

// -- masked words (section 3.1 of the paper) --------------------------------------------------------------------------

struct Questions {
  Index ids;      // (B, T), as the model reads them
  Index answers;  // (B, T): the words that are asked for, elsewhere `not_asked`
};

// Of the words that are asked for, 80 % are masked, 10 % become any word, and 10 % stay: the model cannot know which
// words are right, so it must have an opinion on all.
Questions questions(const Index& words, std::int64_t vocabulary, const RandomKey& key) {
  const Tensor chance = random_uniform({3, words.dim(0), words.dim(1)}, key), how = chance[1];
  const Mask asked = words != unknown && chance[0] < share, replaced = asked && how >= 0.8 && how < 0.9;
  const Index any = words_from + to_index(floor(chance[2] * (vocabulary - words_from)));
  Questions made{words, Index(words.shape(), not_asked)};
  made.answers[asked] = words[asked];
  made.ids[asked && how < 0.8] = mask;
  made.ids[replaced] = any[replaced];
  return made;
}

Tensor loss_of(const nn::Bert& model, const Questions& asked) {
  return cross_entropy(model(asked.ids), asked.answers, {.ignore_index = not_asked});
}

// Questions on the held-out text, always the same: each window several times, with other words masked.
Questions held_out_questions(const Text& text, const Config& config) {
  constexpr std::int64_t times = 4;
  const std::int64_t count = text.held_out.size() / config.context;
  const Index starts = arange(times * count) % count * config.context;
  return questions(windows(text.held_out, starts, config.context), text.tokenizer.size(), {.seed = 1});
}

std::int64_t count_asked(const Index& answers) { return answers.size() - std::ranges::count(answers, not_asked); }

double mean_loss(const nn::Bert& model, const Questions& asked) {
  const NoGrad off;
  const nn::Eval eval(model);
  kit::RunningAverage loss;
  for (std::int64_t first = 0; first < asked.ids.dim(0); first += 64) {
    const Slice some = slice(first, first + 64);
    const Questions part{asked.ids[{some}], asked.answers[{some}]};
    loss.add(loss_of(model, part).item(), count_asked(part.answers));
  }
  return loss.value();
}

// The same loss of a model that knows only the frequencies of words:      p(w) = (n_w + 1) / (n + V)
double frequency_loss(const Text& text, const Index& answers) {
  std::vector<double> seen(text.tokenizer.size(), 1);
  for (const std::int64_t id : text.train) ++seen[id];
  seen[unknown] = seen[mask] = 0;
  const double all = std::accumulate(seen.begin(), seen.end(), 0.0);
  double sum = 0;
  for (const std::int64_t id : answers) sum -= id == not_asked ? 0 : std::log(seen[id] / all);
  return sum / count_asked(answers);
}

// -- filling in -------------------------------------------------------------------------------------------------------

struct Sentence {
  Index ids;         // (1, T)
  std::string word;  // that was there, if known
};

// Those of --fill, and some of the held-out text with a word masked that is not among the most frequent.
std::vector<Sentence> sentences(const Text& text, const Config& config) {
  std::vector<Sentence> all;
  for (const std::string& given : config.fill) {
    const Index ids = text.tokenizer.encode(given);
    if (std::ranges::count(ids, mask) != 1) fail<ValueError>("bert", "--fill: one _ expected in \"", given, "\"");
    all.push_back({ids.reshaped({1, ids.size()}), ""});
  }
  constexpr std::int64_t length = 16, frequent = 60, count = 6;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t first = i * (text.held_out.size() - length) / count;
    Index ids = windows(text.held_out, Index({1}, first), std::min(length, config.context));
    const Index rare = flatnonzero(ids >= words_from + frequent && arange(ids.size()) >= 4);
    if (rare.size() == 0) continue;
    const std::string word = text.tokenizer.vocab().token(ids.at({0, rare.at({0})}));
    ids[{0, rare.at({0})}] = mask;
    all.push_back({ids, word});
  }
  return all;
}

// The most probable words at the mask, and their probabilities.
std::string guesses(const nn::Bert& model, const Text& text, const Index& ids) {
  const NoGrad off;
  const nn::Eval eval(model);
  const std::int64_t place = std::ranges::find(ids, mask) - ids.begin();
  const Sorted best = topk(softmax(model(ids)[{0, place, slice(words_from, none)}]), 3);
  std::string line;
  for (std::int64_t i = 0; i < best.indices.size(); ++i) {
    line += str(i == 0 ? "" : ", ", text.tokenizer.vocab().token(words_from + best.indices.at({i})), " ",
                kit::fixed(100. * best.values.value().at({i}), 1), " %");
  }
  return line;
}

// The attention of each word of a sentence, in each head of each layer.
void draw_attention(const std::filesystem::path& path, const nn::Bert& model, const Text& text, const Index& ids) {
  const NoGrad off;
  const nn::Eval eval(model);
  nn::AttentionRecorder recorder;
  (void)model(ids);  // for what the recorder sees
  kit::Tokens words;
  for (const std::int64_t id : ids) words.push_back(text.tokenizer.vocab().token(id));
  kit::save(path, kit::attention_svg(kit::attention_weights(recorder, ".attn"),
                                     kit::encoder_maps(words, {.title = "Attention of each word; _ is masked"})));
}

// -- training ---------------------------------------------------------------------------------------------------------

void train(const Config& config, kit::Example& example) {
  std::string loaded = kit::load_text(config.data);
  std::erase(loaded, '_');  // underscores surround italics in the file; here an underscore stands for a masked word
  const Text text(config, loaded);
  const nn::Bert model{nn::root,
                       {.vocabulary = text.tokenizer.size(),
                        .context = config.context,
                        .segments = 1,
                        .dim = config.dim,
                        .heads = config.heads,
                        .layers = config.layers,
                        .ffn = 4 * config.dim,
                        .dropout = config.dropout}};
  const Questions held_out = held_out_questions(text, config);
  const double frequencies = frequency_loss(text, held_out.answers);
  std::cout << text.train.size() << " words to train on, " << text.held_out.size() << " held out, "
            << text.tokenizer.size() - words_from << " different ones; " << model.num_parameters()
            << " parameters\nheld-out loss of word frequencies " << kit::fixed(frequencies, 3) << ", of the model "
            << kit::fixed(mean_loss(model, held_out), 3) << "\n";
  const std::vector<Sentence> to_fill = sentences(text, config);
  std::vector<std::string> before;
  for (const Sentence& sentence : to_fill) before.push_back(guesses(model, text, sentence.ids));

  optim::AdamW adam{optim::parameter_groups<optim::AdamWOptions>(
      model.parameters(),
      {{nn::without_weight_decay(model), {.lr = config.learning_rate, .betas = {0.9, 0.99}, .weight_decay = 0}}},
      {.lr = config.learning_rate, .betas = {0.9, 0.99}, .weight_decay = 0.01})};
  const std::int64_t rest = std::max<std::int64_t>(config.steps - warmup, 1);
  const auto validate = [&] { return kit::Scores{{"held_out_loss", mean_loss(model, held_out)}}; };
  const auto print = [](const kit::Report& report) {
    std::cout << "\nstep " << report.step << ": loss " << kit::fixed(report.loss, 3) << ", held out "
              << kit::fixed(report.scores.values[0].second, 3) << std::endl;
  };
  kit::Trainer trainer{model,
                       adam,
                       {.schedule = optim::schedule::warmup(warmup, optim::schedule::cosine({.steps = rest})),
                        .max_norm = 1,
                        .validate = validate,
                        .validate_every = config.report_every,
                        .folder = example.out,
                        .on_report = print}};
  const auto begin = std::chrono::steady_clock::now();
  trainer.fit(config.steps, [&] {
    const Index starts = randint(0, text.train.size() - config.context + 1, {config.batch});
    return loss_of(model,
                   questions(windows(text.train, starts, config.context), text.tokenizer.size(), next_random_key()));
  });
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;

  for (std::size_t i = 0; i < to_fill.size(); ++i) {
    const auto& [ids, word] = to_fill[i];
    std::cout << "\n" << text.tokenizer.decode(ids.reshaped({ids.size()})) << "\n";
    if (!word.empty()) std::cout << "  it was  " << word << "\n";
    std::cout << "  before  " << before[i] << "\n  after   " << guesses(model, text, ids) << "\n";
  }
  if (!to_fill.empty()) draw_attention(example.out / "attention.svg", model, text, to_fill.front().ids);
  kit::Series trained{.name = "training"}, judged{.name = "held out"};
  kit::Series level{.name = "word frequencies", .style = kit::Series::Style::dashed};
  for (const kit::Report& report : trainer.history()) {
    for (kit::Series* one : {&trained, &judged, &level}) one->x.push_back(report.step);
    trained.y.push_back(report.loss);
    judged.y.push_back(report.scores.values[0].second);
    level.y.push_back(frequencies);
  }
  kit::save(example.out / "loss.svg",
            kit::line_plot({trained, judged, level},
                           {.title = "Masked words from those around them", .x_label = "step", .y_label = "loss"}));
  example.result.add("steps", config.steps).add("seconds", seconds.count()).add("frequency_loss", frequencies);
  example.result.add("masked_loss", judged.y.back());
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = [](kit::Options& o, Config& c) {
    o.text("--data", c.data, "text file, UTF-8, plain or gzip");
    o.texts("--fill", c.fill, "a sentence with _ for the word to be filled in; may be given several times");
    o.integer("--steps", c.steps, "training steps", 1, 1'000'000);
    o.integer("--batch", c.batch, "windows per step", 1, 100'000);
    o.integer("--context", c.context, "words of a window", 8, 100'000);
    o.integer("--min-freq", c.min_freq, "rarer words are unknown", 1, 1'000'000);
    o.integer("--dim", c.dim, "width of the model", 1, 100'000);
    o.integer("--heads", c.heads, "heads of attention", 1, 1000);
    o.integer("--layers", c.layers, "blocks", 1, 1000);
    o.real("--dropout", c.dropout, "probability of dropout", 0, 1);
    o.real("--lr", c.learning_rate, "largest learning rate", 1e-9, 1000);
    o.integer("--report-every", c.report_every, "steps from one report to the next", 1, 1'000'000'000);
  };
  return kit::main<Config>(argc, argv, "bert", "A BERT that learns to fill in masked words.", options, train);
}
