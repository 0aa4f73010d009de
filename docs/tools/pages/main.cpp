// A folder of pages to explore, and one that leads to them: graphs of the examples' models, and of a training step of
// the translation model and of a GPT.
//
//   docs/tools/run pages
#include <filesystem>
#include <fstream>

#include <xgrad/kit/program/cli.h>
#include <xgrad/xgrad.h>

#include "../../../examples/annotated_transformer/model.h"
#include "../../../examples/field_attention/model.h"
#include "../../../examples/policy_gradient/agent.h"
#include "../../../examples/vae/model.h"
#include "../../../examples/word_vectors/model.h"
#include "../experiments/stacks.h"

using namespace xgrad;

namespace {

class Folder {
 public:
  explicit Folder(std::filesystem::path path) : path_(std::move(path)) { std::filesystem::create_directories(path_); }

  void add(const std::string& name, const Tensors& results, const std::string& title,
           const ValueRecorder* values = nullptr) {
    save_graph((path_ / (name + ".html")).string(), results, {.title = title, .values = values});
    list_ += str("<li><a href=\"", name, ".html\">", title, "</a></li>\n");
  }
  // The loss and the gradients of all parameters.
  void add_step(const std::string& name, const Tensor& loss, const nn::Module& model, const std::string& title) {
    Tensors step = grad(loss, model.parameters(), {.create_graph = true});
    step.insert(step.begin(), loss);
    add(name, step, title);
  }

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

Tensor image(std::int64_t size) { return zeros({1, 3, size, size}).named("image"); }

Index words(const Shape& shape) { return Index(shape, std::int64_t{1}); }

// With the numbers of a run.
void add_neuron(Folder& folder) {
  const Tensor x1 = variable(2, "x1"), x2 = variable(0, "x2");
  const Tensor w1 = variable(-3, "w1"), w2 = variable(1, "w2");
  const Tensor b = variable(6.9, "b");
  ValueRecorder values;
  const Tensor o = tanh(x1 * w1 + x2 * w2 + b).named("o");
  o.backward();
  folder.add("neuron", {o}, "A neuron, step by step", &values);
}

void add_translation(Folder& folder) {
  const nn::EncoderDecoder model{nn::root, 1000, 1200, {.dim = 128, .ffn = 512, .heads = 4, .layers = 4}};
  const Index lengths(Shape{2}, std::int64_t{7}), target = words({2, 6});
  const Tensor loss = cross_entropy(model(words({2, 7}), lengths, target), target).named("loss");
  folder.add("translate", {loss}, "translate: the translation transformer");
  folder.add_step("translate_step", loss, model, "translate: one training step");
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
  folder.add_step("gpt_step", loss, gpt, "gpt: one training step");
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
  const nn::SwinTransformer swin{
      nn::root, {.patch = 2, .channels = 3, .dim = 32, .depths = {2, 2}, .heads = {2, 4}, .window = 4, .classes = 10}};
  folder.add("swin", {swin(image(32)).named("logits")}, "swin: a transformer of windows");
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

int main(int argc, char** argv) {
  return kit::main(argc, argv, "pages", "A folder of pages of graphs.", [](kit::Example& example) {
    Folder folder(example.out);
    add_neuron(folder);
    add_translation(folder);
    add_language_models(folder);
    add_vision_models(folder);
    add_others(folder);
    folder.finish();
  });
}
