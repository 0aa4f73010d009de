// A training that is interrupted in the middle of an epoch and goes on in another run, bit for bit, with a schedule,
// clipped gradients and a validation. The folder "interrupted_files" then has its checkpoint, and its loss as a picture.
#include <filesystem>
#include <iostream>

#include <xgrad/kit/data/data.h>
#include <xgrad/kit/train/trainer.h>
#include <xgrad/xgrad.h>

using namespace xgrad;

struct Net : nn::Layer<Net> {
  using Layer::Layer;
  nn::Linear in{at("in"), 2, 32}, out{at("out"), 32, 2};
  Tensor forward(const Tensor& x) const { return out(tanh(in(x))); }  // (B, 2) -> (B, 2)
};

// Which points of the square are inside of a circle.
auto points(std::int64_t n) {
  const Tensor x = 2 * rand({n, 2}) - 1;
  return kit::TensorDataset{x, to_index(to_real(sum(square(x), 1) < 0.6))};
}

// Trains, from the checkpoint in the folder if there is one, and returns how many test points are judged rightly.
double train(Net& net, const std::filesystem::path& folder, std::int64_t stop_after) {
  manual_seed(1);
  const auto data = points(400), test = points(200);
  optim::AdamW adam{net.parameters(), {.lr = 0.02}};
  kit::DataLoader batches{data, {.batch_size = 20, .shuffle = true, .seed = 1}};
  kit::TrainerOptions options{.epochs = 20, .max_norm = 1, .folder = folder, .resume = true};
  options.schedule = optim::schedule::warmup(20, optim::schedule::cosine({.steps = 380}));
  const auto [x, label] = test.batch(arange(test.size()));
  options.validate = [&net, &x = x, &label = label] { return mean(argmax(net(x), 1) == label).item(); };
  kit::Trainer* running = nullptr;
  options.on_step = [&](const kit::StepReport& report) {
    if (report.step == stop_after) running->stop();
  };
  kit::Trainer trainer{net, adam, options};
  running = &trainer;
  trainer.fit(batches, [&](const Tensor& x, const Index& label) { return cross_entropy(net(x), label); });
  return mean(argmax(net(x), 1) == label).item();
}

int main() {
  manual_seed(1);
  Net whole{nn::root}, first{nn::root}, second{nn::root};
  first.load_state_dict(whole.state_dict());
  const double accuracy = train(whole, "whole_files", -1);
  train(first, "interrupted_files", 70);
  train(second, "interrupted_files", -1);
  bool same = true;
  for (std::size_t i = 0; i < whole.parameters().size(); ++i) {
    same = same && equal(whole.parameters()[i].value(), second.parameters()[i].value());
  }
  std::cout << "accuracy " << accuracy << ", resumed " << (same ? "bit for bit" : "with other numbers") << "\n";
  return same && accuracy > 0.9 ? 0 : 1;
}
