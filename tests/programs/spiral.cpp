// Two spirals wound into each other: a network learns which of them a point lies on. The folder "spiral_files" then
// has its loss as a picture, curves.svg.
#include <iostream>

#include <xgrad/kit/data/data.h>
#include <xgrad/kit/train/metrics.h>
#include <xgrad/kit/train/trainer.h>
#include <xgrad/xgrad.h>

using namespace xgrad;

struct Net : nn::Module {
  nn::Linear in{at("in"), 2, 64}, hidden{at("hidden"), 64, 64}, out{at("out"), 64, 2};
  Tensor operator()(const Tensor& x) const { return out(relu(hidden(relu(in(x))))); }
};

auto spirals(std::int64_t n) {
  const Index label = arange(n) % 2;
  const Tensor radius = 3 * rand({n}), angle = 3.14159f * (radius + to_real(label));
  const Tensor place = stack({radius * cos(angle), radius * sin(angle)}, 1);
  return kit::TensorDataset{place + 0.03f * randn({n, 2}), label};
}

int main() {
  manual_seed(1);
  const auto points = spirals(1000), test = spirals(300);
  Net net;
  optim::Adam adam{net.parameters(), {.lr = 0.01}};
  kit::DataLoader batches{points, {.batch_size = 50, .shuffle = true}};
  kit::Trainer trainer{net, adam, {.epochs = 30, .folder = "spiral_files"}};
  trainer.fit(batches, [&](const Tensor& x, const Index& label) { return cross_entropy(net(x), label); });
  const auto [x, label] = test.batch(arange(test.size()));
  const double accuracy = kit::accuracy(net(x), label);
  std::cout << "accuracy " << accuracy << "\n";
  return accuracy > 0.97 ? 0 : 1;
}
