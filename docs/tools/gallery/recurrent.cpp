// Recurrent networks: how three kinds learn to remember.
#include "gallery.h"

namespace gallery {

namespace {

// D1: each is to remember the first number until the end.
template <class Layer>
kit::Series remembering(const char* name) {
  constexpr std::int64_t B = 64, T = 12, steps = 300;
  struct Model : nn::Module {
    Layer layer{at("layer"), 1, 16};
    nn::Linear out{at("out"), 16, 1};
  } model;
  optim::Adam adam{model.parameters(), {.lr = 0.01}};
  kit::Series series{.name = name};
  for (std::int64_t step = 0; step < steps; ++step) {
    const Tensor x = randn({B, T, 1});
    const Tensor loss = mse_loss(model.out(model.layer(x).output[{_, T - 1}]), x[{_, 0}]);
    adam.step(grad(loss, model.parameters()));
    if (step % 5 == 0) {
      series.x.push_back(static_cast<double>(step));
      series.y.push_back(loss.item());
    }
  }
  return series;
}

void cells(const std::filesystem::path& out) {
  kit::save(out / "d1.svg", kit::line_plot({remembering<nn::RNN>("RNN"), remembering<nn::LSTM>("LSTM"),
                                            remembering<nn::GRU>("GRU")},
                                           {.title = "Saying the first of 12 numbers",
                                            .x_label = "step",
                                            .y_label = "mean square",
                                            .width = 480,
                                            .height = 300}));
}

}  // namespace

void recurrent(const std::filesystem::path& out) {
  cells(out);
}

}  // namespace gallery
