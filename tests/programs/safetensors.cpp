// Weights that Python wrote, in a model here, and weights of a model here, for Python.
#include <iostream>

#include <xgrad/xgrad.h>

using namespace xgrad;

struct Model : nn::Module {
  nn::Linear fc1{at("fc1"), 3, 4}, fc2{at("fc2"), 4, 2};
  Tensor operator()(const Tensor& x) const { return fc2(tanh(fc1(x))); }
};

int main(int, char** argv) {
  // Written in Python: weights under the names that PyTorch gives them, an input x, and y, what Python makes of it.
  const StateFile file = load_safetensors(argv[1]);
  Model model;
  model.load_state_dict(file.part("model").arrays);
  const Tensor x = file.get<Array>("x"), y = file.get<Array>("y");
  const Real error = max(abs(model(x) - y)).item();
  std::cout << "Python and this program differ by " << error << "\n";

  optim::SGD sgd{model.parameters(), {.lr = 0.1}};
  sgd.step(grad(mse_loss(model(x), zeros_like(y)), model.parameters()));
  save(model, "trained.safetensors");  // in Python: safetensors.torch.load_file("trained.safetensors")
  save_safetensors("expected.safetensors", {.arrays = {{"y", model(x).value()}}});
  Model again;
  load(again, "trained.safetensors");
  return error < 1e-6 && equal(again(x).value(), model(x).value()) ? 0 : 1;
}
