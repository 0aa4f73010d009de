// Vision models against torchvision's, whose states load strictly: logits and gradients.
#include "../support.h"
#include "support/number_type.h"

#include <xgrad/nn/nn.h>

namespace xgrad::testing {
namespace {

using namespace nn;

// Of values, and of gradients.
constexpr double near = in_float ? 1e-5 : 1e-11, near_gradients = in_float ? 1e-4 : 1e-9;

template <class Model>
void check_model(const std::string& name, const typename Model::Options& options) {
  CAPTURE(name);
  const StateFile file = load_safetensors(fixture_path(str(name, ".safetensors")));
  const Model model(root, options);
  model.load_state_dict(part(file, "state/"));
  const auto get = [&](const char* what, int i) { return file.get<Array>(str(what, i)); };
  for (int i = 0; i < std::stoi(file.text("pictures")); ++i) {
    CAPTURE(i);
    const Tensor x = variable(get("x", i));
    const Tensor y = model(x);
    check_close(y.value(), get("y", i), near);
    Tensors leaves{x};
    for (const auto& [path, parameter] : model.named_parameters()) leaves.push_back(parameter);
    const Tensors gradients = grad(y, leaves, {.seed = get("gy", i)});
    check_close(gradients[0].value(), get("gx", i), near_gradients);
    const NamedArrays expected = part(file, str("gradient", i, "/"));
    CHECK(expected.size() + 1 == leaves.size());
    std::size_t next = 1;
    for (const auto& named : model.named_parameters()) {
      const std::string& path = named.first;
      INFO(path);
      check_close(gradients[next++].value(), std::get<Array>(expected.at(path)), near_gradients);
    }
    const Eval eval(model);
    check_close(model(x).value(), get("e", i), near);
  }
}

}  // namespace

TEST_CASE("Vision transformers load torchvision's states and equal its models") {
  const VisionTransformerOptions options{.image = 8, .patch = 4, .dim = 8, .heads = 2, .layers = 2, .mlp = 12, .classes = 3};
  check_model<VisionTransformer>("vit", options);
}

TEST_CASE("Swin transformers load torchvision's states and equal its models") {
  SwinTransformerOptions options{
      .dim = 4, .depths = {2, 2}, .heads = {1, 2}, .window = 4, .mlp_ratio = 2, .classes = 3};
  check_model<SwinTransformer>("swin", options);
  options.window = {2, 5};
  check_model<SwinTransformer>("swin_oblong", options);
}

TEST_CASE("Residual networks load torchvision's states and equal its models, their running statistics too") {
  ResNetOptions options{.layers = {2, 1, 1, 1}, .width = 2, .classes = 3};
  check_model<ResNet>("resnet_basic", options);
  options.block = ResidualBlockKind::bottleneck;
  options.layers = {1, 2, 1, 1};
  check_model<ResNet>("resnet_bottleneck", options);
}

}  // namespace xgrad::testing
