// A convolutional network tells drawn shapes apart: crosses, stripes, checkers and crescents.
#include <iostream>

#include <xgrad/kit/data/data.h>
#include <xgrad/kit/data/shapes.h>
#include <xgrad/kit/train/metrics.h>
#include <xgrad/kit/train/trainer.h>
#include <xgrad/xgrad.h>

using namespace xgrad;

struct Cnn : nn::Module {
  nn::Conv2d conv1{at("conv1"), 1, 16, 3}, conv2{at("conv2"), 16, 32, 3};
  nn::Linear hidden{at("hidden"), 32 * 2 * 2, 64}, head{at("head"), 64, 10};

  Tensor operator()(const Tensor& x) const {                                   // (B, 1, 16, 16) -> (B, 10)
    const Tensor edges = max_pool2d(relu(conv1(x)), 2);                        // (B, 16, 7, 7)
    return head(relu(hidden(flatten(max_pool2d(relu(conv2(edges)), 2), 1))));  // of (B, 32, 2, 2)
  }
};

int main() {
  manual_seed(1);
  const kit::ImageSet drawn = kit::draw_shapes({.seed = 1}, {.count = 14000, .size = 16, .noise = 0.02});
  const kit::ImageSet four = drawn.select(flatnonzero(drawn.labels() >= 6));  // the last four of ten kinds
  const auto parts = kit::random_split(four, {four.size() - 500, 500}, 1);
  Cnn cnn;
  optim::AdamW adam{cnn.parameters(), {.lr = 5e-3}};
  kit::DataLoader batches{parts[0], {.batch_size = 50, .shuffle = true, .num_workers = 1}};
  kit::Trainer trainer{cnn, adam, {.epochs = 12, .schedule = optim::schedule::cosine({.steps = 1200})}};
  trainer.fit(batches, [&](const kit::ImageBatch& batch) { return cross_entropy(cnn(batch.images), batch.labels); });
  const kit::ImageBatch test = parts[1].batch(arange(500));
  const double accuracy = kit::accuracy(cnn(test.images), test.labels);
  std::cout << "accuracy " << accuracy << "\n";
  return accuracy > 0.97 ? 0 : 1;
}
