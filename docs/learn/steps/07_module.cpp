// Step 7: a module.
//
// A Module (module.h) has a list of its parameters and submodules, because declaring one with at("name") registers it.
// So a model is a declaration, and training gets all parameters from the model.
#include "module.h"

struct Mlp : Module {
  using Module::Module;
  Linear in{at("in"), 2, 3};
  Linear out{at("out"), 3, 1};
  Tensor operator()(const Tensor& x) const { return out(tanh(in(x))); }  // (T, 2) -> (T, 1)
};

struct Pair : Module {  // modules contain modules
  Mlp left{at("left")}, right{at("right")};
  Tensor operator()(const Tensor& x) const { return left(x) * right(x); }
};

int main() {
  const Pair model;
  const Tensor x = uniform(5, 2, 1), target = uniform(5, 1, 1);
  const auto loss = [&] {
    const Tensor error = model(x) - target;
    return sum(error * error) / 5;
  };

  std::size_t count = 0;
  for (const auto& [name, parameter] : model.named_parameters()) {
    std::printf("%-18s [%d, %d]\n", name.c_str(), parameter.value().rows, parameter.value().cols);
    count += parameter.value().v.size();
  }
  std::printf("%zu parameters; the loss is %.4f\n", count, loss().item());

  const Tensors parameters = model.parameters();
  const bool right = gradients_are_right(loss, parameters);
  std::printf("gradients equal finite differences: %s\n", right ? "yes" : "no");

  // One step downhill.
  const double before = loss().item();
  const Tensors gradients = grad(loss(), parameters);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    parameters[i].value() = (parameters[i] - 0.1 * gradients[i]).value();
  }
  std::printf("after one step downhill it is %.4f\n", loss().item());
  return right && loss().item() < before && parameters.size() == 8 ? 0 : 1;
}
