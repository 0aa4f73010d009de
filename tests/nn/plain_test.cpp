// Every model run as single operations, under Plain, and fused: the same values and gradients of all parameters.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <xgrad/nn/nn.h>
#include <xgrad/nn/pytorch/pytorch.h>
#include <xgrad/ops/ops.h>

#include "support/check.h"

namespace xgrad::testing {
namespace {

using namespace nn;

// A model, and its input.
struct Run {
  std::string name;
  std::shared_ptr<Module> model;
  std::function<Tensor()> y;
};

template <class Model, class... Arguments>
std::shared_ptr<Model> made(const Arguments&... arguments) {
  return std::make_shared<Model>(root, arguments...);
}

const Index tokens({2, 4}, {1, 2, 3, 4, 4, 2, 0, 0}), token_lengths({2}, {4, 2}), target({2, 3}, {1, 2, 3, 1, 3, 4});

std::vector<Run> runs() {
  std::vector<Run> all;
  const auto add = [&](const std::string& name, const auto& model, const auto& f) {
    all.push_back({name, model, [model, f] { return f(*model); }});
  };
  const auto on = [](const Array& x) { return [x](const auto& model) { return model(x); }; };
  const auto on_ids = [](const auto& model) { return model(tokens); };
  const Array picture = normal({2, 1, 8, 8}), sequence = normal({2, 4, 6});

  for (const NormOrder norm : {NormOrder::post, NormOrder::pre}) {
    add("EncoderDecoder",
        made<EncoderDecoder>(5, 5, TransformerOptions{.dim = 8, .ffn = 12, .heads = 2, .layers = 2, .norm = norm}),
        [](const auto& model) { return model(tokens, token_lengths, target); });
  }
  for (const Context context : {Context::initial_state, Context::every_step, Context::attention}) {
    add("Seq2Seq", made<Seq2Seq>(5, 6, Seq2SeqOptions{.context = context, .embed = 3, .hidden = 4, .layers = 2}),
        [](const auto& model) { return model(tokens, token_lengths, target); });
  }
  add("Gpt", made<Gpt>(GptOptions{.vocabulary = 5, .context = 6, .dim = 8, .heads = 2, .layers = 2}), on_ids);
  add("Llama",
      made<Llama>(
          LlamaOptions{.vocabulary = 5, .context = 6, .dim = 16, .heads = 4, .kv_heads = 2, .layers = 2, .ffn = 12}),
      on_ids);
  add("Bert", made<Bert>(BertOptions{.vocabulary = 5, .context = 6, .dim = 8, .heads = 2, .layers = 2, .ffn = 12}),
      [](const auto& model) { return model(tokens, {.lengths = token_lengths}); });
  for (const ResidualBlockKind kind : {ResidualBlockKind::basic, ResidualBlockKind::bottleneck}) {
    add("ResNet",
        made<ResNet>(ResNetOptions{.block = kind, .layers = {1, 1, 1, 1}, .channels = 1, .width = 2, .classes = 5}),
        on(normal({3, 1, 64, 64})));
  }
  VisionTransformerOptions vit{
      .image = 8, .patch = 4, .channels = 1, .dim = 8, .heads = 2, .layers = 2, .classes = 3, .drop_path = 0.2};
  vit.dropout = vit.attention_dropout = 0.1;
  add("VisionTransformer", made<VisionTransformer>(vit), on(picture));
  SwinTransformerOptions swin{.patch = 1, .channels = 1, .dim = 4, .depths = {2, 2}, .heads = {1, 2}, .classes = 3};
  swin.window = 3;
  swin.attention_dropout = 0.1;
  add("SwinTransformer", made<SwinTransformer>(swin), on(picture));
  add("Mlp of pictures", made<Mlp>(vision_mlp(6, 5)), on(sequence));
  add("LinearAttention", made<nn::LinearAttention>(6, 2),
      [sequence](const auto& model) { return model(sequence, sequence, sequence); });
  add("LSTM", made<nn::LSTM>(6, 3, nn::LSTMOptions{.layers = 2, .dropout = 0.2, .bidirectional = true}),
      [sequence](const auto& model) { return model(sequence, {.lengths = token_lengths}).output; });
  add("RNN", made<nn::RNN>(6, 3), [sequence](const auto& model) { return model(sequence).output; });
  return all;
}

TEST_CASE("every model under Plain gives the values and gradients that it gives fused, with the same dropout") {
  for (const Run& run : runs()) {
    CAPTURE(run.name);
    struct Result {
      Tensor y;
      Tensors gradients;
    };
    const Tensors parameters = run.model->parameters();
    const auto result = [&](bool plain) {
      manual_seed(3);
      const Plain scope(plain);
      const Tensor y = run.y();
      return Result{y, grad(y, parameters, {.seed = normal(y.shape(), 7), .unused = Unused::zeros})};
    };
    const Result fused = result(false), plain = result(true);
    check_close(plain.y.value(), fused.y.value());
    double size = 0;  // of gradients: some are sums of what cancels
    for (const Tensor& g : fused.gradients) size = std::max(size, largest(g.value()));
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      CAPTURE(parameters[i].name());
      check_close(plain.gradients[i].value(), fused.gradients[i].value(), 1e-12, 1e-3 * size);
    }
  }
}

}  // namespace
}  // namespace xgrad::testing
