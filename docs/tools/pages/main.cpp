// A folder of pages to explore, and one that leads to them: graphs of the examples' models, of a training step of the
// translation model and of a GPT, and the graphs that pages of docs have as pictures, with the numbers of a run.
//
//   docs/tools/run pages
//
// The latter are drawn by the programs that draw the pictures. Here they are compiled with save_live in place of
// save_graph (examples/CMakeLists.txt), and in docs a picture becomes its page where there is one (site/site.py).
#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <xgrad/kit/program/cli.h>
#include <xgrad/xgrad.h>

#include "../../../examples/annotated_transformer/model.h"
#include "../../../examples/field_attention/model.h"
#include "../../../examples/policy_gradient/agent.h"
#include "../../../examples/vae/model.h"
#include "../../../examples/word_vectors/model.h"
#include "../experiments/stacks.h"

using namespace xgrad;

namespace xgrad {
void save_live(const std::string& path, const Tensors& results, const GraphOptions& options = {});
}
extern int (*const live_programs[])(int argc, char** argv);
extern const char* const live_programs_paths[];
void draw_annotated_transformer(const std::filesystem::path& folder);  // live.cpp

namespace {

class Folder {
 public:
  explicit Folder(std::filesystem::path path) : path_(std::move(path)) { std::filesystem::create_directories(path_); }

  void add(const std::string& name, const Tensors& results, const GraphOptions& options) {
    save_graph((path_ / (name + ".html")).string(), results, options);
    list_ += str("<li><a href=\"", name, ".html\">", options.title, "</a></li>\n");
  }
  void add(const std::string& name, const Tensors& results, const std::string& title) {
    add(name, results, GraphOptions{.title = title});
  }
  const std::filesystem::path& path() const { return path_; }
  void finish() const {
    std::ofstream(path_ / "index.html") << "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                                        << "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                                        << "<title>Graphs to explore</title>\n</head>\n<body>\n"
                                        << "<h1>Graphs to explore</h1>\n<ul>\n"
                                        << list_ << "</ul>\n</body>\n</html>\n";
  }

 private:
  std::filesystem::path path_;
  std::string list_;
};

// A loss and the gradients of all parameters.
Tensors step_of(const Tensor& loss, const nn::Module& model) {
  Tensors step = grad(loss, model.parameters(), {.create_graph = true});
  step.insert(step.begin(), loss);
  return step;
}

Tensor image(std::int64_t size) { return zeros({1, 3, size, size}).named("image"); }

Index words(const Shape& shape) { return Index(shape, std::int64_t{1}); }

// A program of docs while it runs: where its graphs go.
struct Running {
  Folder& folder;
  std::string prefix;       // of the names of its pages, which else are those of its pictures
  std::string_view title;   // of graphs without one
  bool ends_after_a_graph;  // what else it does is not needed
  ValueRecorder values = {};
};
Running* running = nullptr;
struct GraphIsDrawn {};

// Runs a program with a folder for its pictures.
template <class Program>
void run_live(Running program, const Program& run) {
  running = &program;
  try {
    run(program.folder.path() / "pictures");
  } catch (const GraphIsDrawn&) {
  }
  running = nullptr;
}

// The lessons, which end with their graph, and the programs that draw the other pictures.
void add_live(Folder& folder) {
  for (int i = 0; live_programs_paths[i]; ++i) {
    const std::string_view path = live_programs_paths[i];
    const bool lesson = path.starts_with("docs/learn/start/"), by_hand = path.starts_with("examples/attention_by_hand/");
    run_live({folder, by_hand ? "by_hand_" : "", lesson ? "A lesson" : "", lesson}, [&](const std::filesystem::path& out) {
      std::string name = "pages", place = out.string(), option = "--out", corpus = XGRAD_EXAMPLES_DIR "/translate/data/en-fr.tsv";
      std::array<char*, 4> of_lesson{name.data(), place.data(), corpus.data(), nullptr};
      std::array<char*, 4> of_example{name.data(), option.data(), place.data(), nullptr};
      if (live_programs[i](3, lesson ? of_lesson.data() : of_example.data()) != 0) fail<Error>("pages", path, " failed");
    });
  }
  run_live({folder, "annotated_", "A part of the annotated transformer", false}, draw_annotated_transformer);
}

// The model of the example, with the numbers of a batch.
void add_translation(Folder& folder) {
  const Index lengths(Shape{2}, std::int64_t{7}), target = words({2, 6});
  run_live({folder, "translation_", "", false}, [&](const std::filesystem::path&) {
    const nn::EncoderDecoder model{nn::root, 1000, 1200, {.dim = 32, .ffn = 64, .heads = 4, .layers = 2}};
    const Tensor loss = cross_entropy(model(words({2, 7}), lengths, target), target).named("loss");
    save_live("model.svg", {loss}, {.title = "translate: the translation transformer"});
    save_live("step.svg", step_of(loss, model), {.title = "translate: one training step", .depth = 0});
  });
  run_live({folder, "transformer_", "", false}, [](const std::filesystem::path&) {
    const nn::EncoderBlock block{nn::root, {.dim = 16, .ffn = 32, .heads = 2, .dropout = 0, .norm_shape = {8, 16}}};
    save_live("norm_graph.svg", {block(randn({1, 8, 16}).named("x"), nn::causal).named("y")},
              {.title = "A block whose norms run over (8, 16)", .depth = 1});
  });
  const annotated::Transformer written{nn::root, {.source_words = 1000, .target_words = 1200}};
  folder.add("annotated_transformer", {written(words({2, 7}), lengths, target).named("logits")},
             "annotated_transformer: the transformer written out");
  const nn::Seq2Seq recurrent{nn::root, 1000, 1200};
  folder.add("seq2seq_rnn", {recurrent(words({2, 7}), lengths, target).named("logits")},
             "seq2seq_rnn: recurrent, with attention");
}

void add_language_models(Folder& folder) {
  const Index ids = words({2, 16});
  const nn::Gpt gpt{nn::root, {.vocabulary = 100, .context = 16, .dim = 32, .heads = 4, .layers = 12}};
  const Tensor loss = cross_entropy(gpt(ids), ids).named("loss");
  folder.add("gpt", {loss}, "gpt: a GPT of 12 layers");
  folder.add("gpt_step", step_of(loss, gpt), "gpt: one training step");
  const nn::Bert bert{nn::root,
                      {.vocabulary = 100, .context = 16, .segments = 1, .dim = 32, .heads = 4, .layers = 4, .ffn = 64}};
  folder.add("bert", {bert(ids).named("h")}, "bert: an encoder that reads both ways");
  const nn::Llama llama{nn::root, {.vocabulary = 100, .context = 16, .dim = 32, .heads = 4, .layers = 4}};
  folder.add("llama", {llama(ids).named("logits")}, "A Llama of 4 layers");
  const word_vectors::SkipGram vectors(100, 16);
  folder.add("word_vectors", {vectors(words({8}), words({8, 5})).named("logits")}, "word_vectors: skip-gram");
}

void add_vision_models(Folder& folder) {
  const nn::VisionTransformer vit{
      nn::root, {.image = 32, .patch = 4, .dim = 64, .heads = 4, .layers = 6, .mlp = 128, .classes = 10}};
  folder.add("vit", {vit(image(32)).named("logits")}, "vit: a vision transformer");
  run_live({folder, "vision_", "", false}, [](const std::filesystem::path&) {
    const nn::SwinTransformer swin{
        nn::root, {.channels = 1, .dim = 8, .depths = {2, 2}, .heads = {1, 2}, .window = 4, .classes = 10}};
    const Tensor logits = swin(randn({1, 1, 32, 32}).named("image")).named("logits");
    save_live("swin.svg", {logits}, {.title = "A small Swin transformer", .depth = 0, .legend = false});
  });
  const nn::ResNet resnet{nn::root, {.classes = 10}};
  folder.add("resnet", {resnet(image(64)).named("logits")}, "A ResNet of 18 layers");
  const vae::Vae model{nn::root, {1, 28, 28}, {}};
  folder.add("vae", {(-mean(model(zeros({4, 1, 28, 28}).named("picture")).elbo())).named("loss")},
             "vae: an autoencoder");
}

void add_others(Folder& folder) {
  const field_attention::ClickModel clicks;
  folder.add("field_attention", {clicks(Index({4, field_attention::fields}, std::int64_t{1})).named("logits")},
             "field_attention: a click model");
  const residual::Classifier stack(32, 16, residual::Path::residual);
  folder.add("residual", {stack(zeros({8, 2}).named("points")).named("logits")},
             "residual: 16 blocks around which x goes");
  const policy_gradient::Agent agent{nn::root};
  const Tensor states = zeros({5, 4}).named("states");
  folder.add("policy_gradient", {agent.policy(states).named("policy"), agent.value(states).named("value")},
             "policy_gradient: an agent");
}

}  // namespace

// What the programs call in place of save_graph: the page of the graph has the numbers of the run and the gradients of its
// first result, or of the sum of its elements times random numbers (the gradient of the sum itself is 0 before a norm).
void xgrad::save_live(const std::string& path, const Tensors& results, const GraphOptions& options) {
  GraphOptions shown = options;
  if (!shown.values) {
    const Tensor& y = results[0];
    const Tensor scalar = y.size() == 1 ? y : sum(y * randn(y.shape()));
    if (y.requires_grad()) scalar.backward({.retain_graph = true});
    shown.values = &running->values;
  }
  const std::string name = running->prefix + std::filesystem::path(path).stem().string();
  if (shown.title.empty()) shown.title = str(running->title, ": ", name);
  running->folder.add(name, results, shown);
  running->values.clear();
  if (running->ends_after_a_graph) throw GraphIsDrawn();
}

int main(int argc, char** argv) {
  return kit::main(argc, argv, "pages", "A folder of pages of graphs.", [](kit::Example& example) {
    Folder folder(example.out);
    add_live(folder);
    add_translation(folder);
    add_language_models(folder);
    add_vision_models(folder);
    add_others(folder);
    folder.finish();
  });
}
