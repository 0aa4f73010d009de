// The program of the README: a network learns exclusive or, and draws the graph of its loss.
#include <iostream>

#include <xgrad/xgrad.h>

using namespace xgrad;

struct Net : nn::Layer<Net> {
  using Layer::Layer;
  nn::Linear in{at("in"), 2, 8};
  nn::Linear out{at("out"), 8, 1};

  Tensor forward(const Tensor& x) const { return out(tanh(in(x))); }  // (B, 2) -> (B, 1)
};

int main() {
  manual_seed(1);
  const Tensor x = tensor({{0, 0}, {0, 1}, {1, 0}, {1, 1}}).named("x");
  const Tensor y = tensor({{0}, {1}, {1}, {0}}).named("y");
  const Net net{nn::root};
  optim::Adam adam{net.parameters(), {.lr = 0.05}};
  for (int step = 0; step <= 200; ++step) {
    const Tensor loss = mse_loss(net(x), y);
    if (step == 0) save_graph("xor.svg", {loss});
    if (step % 50 == 0) std::cout << "step " << step << "  loss " << loss.item() << "\n";
    adam.step(grad(loss, net.parameters()));
  }
  std::cout << net << to_string(net(x).value()) << "\n";
}
