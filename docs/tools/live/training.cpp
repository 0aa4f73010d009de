// A small transformer that learns to reverse words or to add numbers, while a reader watches.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <utility>

#include <xgrad/core/diagram/render/html.h>

#include "live.h"

namespace live {
namespace {

using namespace xgrad;

struct Settings {
  std::string task, optimizer;
  std::int64_t heads, width, layers, length;
  bool pre;
  double rate;
  unsigned seed;

  explicit Settings(const Json& json)
      : task(json.value("task", "reverse")),
        optimizer(json.value("optimizer", "adam")),
        heads(json.value("heads", 4)),
        width(json.value("width", 32)),
        layers(json.value("layers", 2)),
        length(json.value("length", task == "add" ? 2 : 8)),
        pre(json.value("norm", "before") == "before"),
        rate(json.value("rate", 0.003)),
        seed(json.value("seed", 1u)) {}
};

// What is learned: sequences of letters, each with the letters that are to be written in their places.
class Task {
 public:
  explicit Task(const Settings& settings)
      : adds_(settings.task == "add"), length_(settings.length), random_(settings.seed) {}

  const std::string& letters() const { return adds_ ? digits_ : words_; }
  std::int64_t length() const { return adds_ ? 3 * length_ + 3 : length_; }

  /// A word and the same reversed, or 12+34=... and the sum below the points.
  std::pair<std::string, std::string> pair() {
    if (!adds_) return reversed(drawn(words_));
    const std::string first = drawn("0123456789");  // before the second with every compiler
    return sum(first, drawn("0123456789"));
  }
  /// The pair of what a reader typed.
  std::pair<std::string, std::string> pair_of(const std::string& text) const {
    if (!adds_) {
      if (text.size() != static_cast<std::size_t>(length_) || text.find_first_not_of(words_) != text.npos)
        fail<ValueError>("reverse", length_, " letters from ", words_.front(), " to ", words_.back(),
                         " are learned, not \"", text, '"');
      return reversed(text);
    }
    const std::size_t plus = text.find('+');
    const auto is_number = [&](const std::string& part) {
      return part.size() == static_cast<std::size_t>(length_) && part.find_first_not_of("0123456789") == part.npos;
    };
    if (plus == text.npos || !is_number(text.substr(0, plus)) || !is_number(text.substr(plus + 1)))
      fail<ValueError>("add", "sums of two numbers of ", length_, " digits are learned, not \"", text, '"');
    return sum(text.substr(0, plus), text.substr(plus + 1));
  }
  Index ids(const std::vector<std::string>& texts) const {
    std::vector<std::int64_t> ids;
    for (const std::string& text : texts) {
      for (const char letter : text)
        ids.push_back(letter == ' ' ? ignored : static_cast<std::int64_t>(letters().find(letter)));
    }
    return Index({static_cast<std::int64_t>(texts.size()), length()}, ids);
  }
  static constexpr std::int64_t ignored = -1;

 private:
  // The same numbers with every compiler, which those of <random>'s distributions are not.
  std::string drawn(const std::string& from) {
    std::string text;
    for (std::int64_t i = 0; i < length_; ++i) text += from[random_() % from.size()];
    return text;
  }
  static std::pair<std::string, std::string> reversed(const std::string& text) {
    return {text, std::string(text.rbegin(), text.rend())};
  }
  std::pair<std::string, std::string> sum(const std::string& a, const std::string& b) const {
    const std::string question = a + '+' + b + '=', answer = std::to_string(std::stol(a) + std::stol(b));
    const auto width = static_cast<std::size_t>(length_ + 1);
    const std::string zeros(width - answer.size(), '0'), nothing(question.size(), ' ');
    return {question + std::string(width, '.'), nothing + zeros + answer};
  }

  bool adds_;
  std::int64_t length_;
  std::mt19937 random_;
  std::string words_ = "abcdefghijklmnop", digits_ = "0123456789+=.";
};

struct Model : nn::Layer<Model> {
  Model(At here, std::int64_t letters, const Settings& settings)
      : Layer(std::move(here)),
        encoder(at("encoder"), letters,
                {.dim = settings.width,
                 .ffn = 2 * settings.width,
                 .heads = settings.heads,
                 .layers = settings.layers,
                 .dropout = 0,
                 .norm = settings.pre ? nn::NormOrder::pre : nn::NormOrder::post,
                 .positions = nn::Positions::learned,  // as long as words from the first step on
                 .scale_embedding = false,
                 .max_length = 32}),
        head(at("head"), settings.width, letters) {}

  Tensor forward(const Index& ids) const { return head(encoder(ids)); }

  nn::Encoder encoder;
  nn::Linear head;
};

std::unique_ptr<optim::Optimizer> optimizer_of(const Settings& settings, const Tensors& parameters) {
  const double lr = settings.rate;
  if (settings.optimizer == "adam") return std::make_unique<optim::Adam>(parameters, optim::AdamOptions{.lr = lr});
  if (settings.optimizer == "adamw") return std::make_unique<optim::AdamW>(parameters, optim::AdamWOptions{.lr = lr});
  return std::make_unique<optim::SGD>(
      parameters, optim::SgdOptions{.lr = lr, .momentum = settings.optimizer == "momentum" ? 0.9 : 0.0});
}

class Training {
 public:
  explicit Training(const Settings& settings)
      : task_(settings),
        model_((manual_seed(settings.seed), nn::root), static_cast<std::int64_t>(task_.letters().size()), settings),
        optimizer_(optimizer_of(settings, model_.parameters())) {}

  Json made() const {
    std::int64_t count = 0;
    for (const Tensor& each : model_.parameters()) count += each.size();
    return {{"parameters", count}, {"letters", task_.letters()}, {"length", task_.length()}};
  }

  /// Steps of training: the loss of each before it.
  Json train(std::int64_t steps) {
    Json losses = Json::array();
    for (std::int64_t i = 0; i < steps; ++i) {
      const Tensor loss = loss_of(batch(32));
      optimizer_->step(grad(loss, model_.parameters()));
      losses.push_back(loss.item());
      ++steps_;
    }
    return {{"losses", losses}, {"step", steps_}};
  }

  /// What the model writes below a text, and where it looks.
  Json look(const Json& request) {
    const auto [text, wanted] = request.contains("text") ? task_.pair_of(request["text"]) : Task(task_).pair();
    const NoGrad off;
    nn::AttentionRecorder recorder(model_);
    const Tensor logits = model_(task_.ids({text}));
    Json layers = Json::array();
    for (const auto& record : recorder.records()) layers.push_back(numbers(record.weights));
    std::string written;
    Json chances = Json::array();
    const Tensor p = softmax(logits);
    const auto letters = static_cast<std::int64_t>(task_.letters().size());
    for (std::int64_t i = 0; i < task_.length(); ++i) {
      const Real* row = p.value().data() + i * letters;
      const Real* best = std::max_element(row, row + letters);
      written +=
          wanted[static_cast<std::size_t>(i)] == ' ' ? ' ' : task_.letters()[static_cast<std::size_t>(best - row)];
      chances.push_back(*best);
    }
    return {{"text", text}, {"wanted", wanted}, {"written", written}, {"chances", chances}, {"attention", layers}};
  }

  /// The share of letters that the model gets right in new examples.
  double accuracy() {
    const NoGrad off;
    Task fresh = task_;
    std::int64_t right = 0, all = 0;
    const auto [texts, wanted] = batch(64, fresh);
    const Array logits = model_(task_.ids(texts)).value();
    const Index targets = task_.ids(wanted);
    const auto letters = static_cast<std::int64_t>(task_.letters().size());
    for (std::int64_t i = 0; i < targets.size(); ++i) {
      if (targets.data()[i] == Task::ignored) continue;
      const Real* row = logits.data() + i * letters;
      right += std::max_element(row, row + letters) - row == targets.data()[i];
      ++all;
    }
    return static_cast<double>(right) / static_cast<double>(all);
  }

  /// The page of the graph of a loss of two examples, and the length of the gradient of each parameter.
  Json graph(std::int64_t depth) {
    ValueRecorder values;
    Task fresh = task_;
    const Tensor loss = loss_of(batch(2, fresh)).named("loss");
    loss.backward({.retain_graph = true});
    Json gradients;
    for (const auto& [name, parameter] : model_.named_parameters())
      gradients[name] = std::sqrt(sum(square(parameter.grad())).item());
    model_.zero_grad();
    const GraphOptions options{.title = "One step of training", .depth = static_cast<int>(depth), .values = &values};
    return {
        {"loss", loss.item()}, {"gradients", gradients}, {"page", to_html(GraphView::of({loss}, options), options)}};
  }

  StateFile state() const {
    StateFile state;
    state.add("model", {.arrays = model_.state_dict()});
    state.add("optimizer", optimizer_->state_dict());
    state.metadata["steps"] = std::to_string(steps_);
    return state;
  }
  void set_state(const StateFile& state) {
    const StateFile optimizer = state.part("optimizer");
    model_.load_state_dict(state.part("model").arrays);
    optimizer_->load_state_dict(optimizer);
    steps_ = std::stol(state.text("steps"));
  }
  std::int64_t steps() const { return steps_; }

  StateFile kept = {};

 private:
  using Batch = std::pair<std::vector<std::string>, std::vector<std::string>>;
  static Batch batch(std::int64_t size, Task& task) {
    Batch batch;
    for (std::int64_t i = 0; i < size; ++i) {
      auto [text, wanted] = task.pair();
      batch.first.push_back(std::move(text));
      batch.second.push_back(std::move(wanted));
    }
    return batch;
  }
  Batch batch(std::int64_t size) { return batch(size, task_); }
  Tensor loss_of(const Batch& batch) const {
    return cross_entropy(model_(task_.ids(batch.first)), task_.ids(batch.second), {.ignore_index = Task::ignored});
  }

  Task task_;
  Model model_;
  std::unique_ptr<optim::Optimizer> optimizer_;
  std::int64_t steps_ = 0;
};

// The models of the page: one, or two to compare.
std::map<int, std::unique_ptr<Training>> trainings;

}  // namespace

Json training(const Json& request) {
  const std::string task = request.at("do");
  std::unique_ptr<Training>& training = trainings[request.value("model", 0)];
  if (task == "make") {
    training = std::make_unique<Training>(Settings(request));
    return training->made();
  }
  if (!training) fail<ValueError>("training", "there is no model yet");
  if (task == "train") return training->train(request.value("steps", 1));
  if (task == "look") {
    Json seen = training->look(request);
    seen["accuracy"] = training->accuracy();
    return seen;
  }
  if (task == "graph") return training->graph(request.value("depth", 0));
  const std::string path = request.value("path", "/model.safetensors");
  if (task == "keep") {
    training->kept = training->state();
  } else if (task == "back") {
    training->set_state(training->kept);
  } else if (task == "save") {
    save_safetensors(path, training->state());
  } else if (task == "load") {
    training->set_state(load_safetensors(path));
  } else {
    fail<ValueError>("training", "what is \"", task, "\"?");
  }
  return {{"step", training->steps()}};
}

}  // namespace live
