// Every layer for batches without samples, sequences without steps, and size 1: results, gradients with respect to
// inputs and parameters, and second gradients.
#include "support/orders.h"

#include <xgrad/nn/nn.h>
#include <xgrad/ops/ops.h>

namespace xgrad::testing {
namespace {

// f(x) of a leaf of this shape, differentiated with respect to it and to the module's parameters.
void check_layer(const nn::Module& module, const std::function<Tensor(const Tensor&)>& f, const Shape& from,
                 const Shape& to) {
  const std::string text = str(from, " -> ", to);
  CAPTURE(text);
  try {
    const Tensor x = variable(normal(from, 7));
    Tensors all{x};
    for (const Tensor& parameter : module.parameters()) all.push_back(parameter);
    check_all_orders([&] { return f(x); }, all, to);
  } catch (const std::exception& error) {
    FAIL_CHECK(std::string(error.what()));
  }
}
// The same of what the layer itself makes of x, with the same random numbers each time.
template <class Layer>
void check_layer(const Layer& layer, const Shape& from, const Shape& to) {
  const auto run = [&](const Tensor& x) {
    manual_seed(3);
    return layer(x);
  };
  check_layer(layer, run, from, to);
}

TEST_CASE("small shapes: linear layers, norms and dropout") {
  const nn::Linear linear{nn::root, 3, 2}, plain{nn::root, 3, 1, {.bias = false}};
  const nn::Mlp mlp{nn::root, {.in = 3, .hidden = 1, .out = 2, .activation = tanh, .dropout = 0.5}};
  const nn::LayerNorm norm{nn::root, 3}, bare{nn::root, 3, {.affine = false}};
  const nn::Dropout dropout{nn::root, 0.5};
  for (const Shape& leading : {Shape{}, Shape{0}, Shape{1}, Shape{2, 0}, Shape{0, 2}, Shape{1, 1}}) {
    const auto with = [&](std::int64_t size) {
      Shape shape = leading;
      shape.push_back(size);
      return shape;
    };
    check_layer(linear, with(3), with(2));
    check_layer(plain, with(3), with(1));
    check_layer(mlp, with(3), with(2));
    check_layer(norm, with(3), with(3));
    check_layer(bare, with(3), with(3));
    check_layer(dropout, with(0), with(0));
    check_layer(dropout, leading, leading);
  }
  const nn::LayerNorm whole{nn::root, Shape{2, 3}};
  check_layer(whole, {0, 2, 3}, {0, 2, 3});

  const nn::BatchNorm1d batch{nn::root, 3};
  check_layer(batch, {2, 3}, {2, 3});
  check_layer(batch, {1, 3, 2}, {1, 3, 2});
  for (const Shape& shape : {Shape{0, 3}, Shape{1, 3}, Shape{0, 3, 4}, Shape{2, 3, 0}, Shape{1, 3, 1}}) {
    error_of<ValueError>([&] { batch(variable(Array(shape, Real(1)))); });
    const nn::Eval evaluating{batch};
    check_layer(batch, shape, shape);
  }
}

TEST_CASE("small shapes: norms of pictures and drop path") {
  const nn::BatchNorm2d batch{nn::root, 3};
  check_layer(batch, {2, 3, 1, 1}, {2, 3, 1, 1});
  const nn::GroupNorm group{nn::root, 3, 3};
  const nn::DropPath drop{nn::root, 0.5};
  const nn::Eval evaluating{batch};
  for (const Shape& shape : {Shape{0, 3, 2, 2}, Shape{1, 3, 0, 2}, Shape{1, 3, 1, 2}}) {
    check_layer(batch, shape, shape);
    check_layer(group, shape, shape);
    check_layer(drop, shape, shape);
  }
}

TEST_CASE("small shapes: vision models") {
  const nn::VisionTransformer vit{
      nn::root, {.image = 2, .patch = 1, .channels = 1, .dim = 2, .heads = 1, .layers = 1, .classes = 2}};
  const nn::SwinTransformer swin{
      nn::root, {.patch = 1, .channels = 1, .dim = 2, .depths = {2, 1}, .heads = {1, 1}, .window = 2, .classes = 2}};
  const nn::ResNet residual{nn::root, {.layers = {1, 1, 1, 1}, .channels = 1, .width = 1, .classes = 2}};
  const nn::Eval evaluating{residual};
  for (const std::int64_t B : {0, 1}) {
    check_layer(vit, {B, 1, 2, 2}, {B, 2});
    check_layer(swin, {B, 1, 1, 3}, {B, 2});
    check_layer(residual, {B, 1, 1, 1}, {B, 2});
  }
}

TEST_CASE("small shapes: embeddings and positions") {
  const nn::Embedding table{nn::root, 1, 1}, padded{nn::root, 4, 3, {.padding_idx = -1}};
  for (const Shape& ids : {Shape{}, Shape{0}, Shape{1}, Shape{2, 0}, Shape{0, 2}}) {
    Shape y = ids;
    y.push_back(1);
    check_all_orders([&] { return table(Index(ids, 0)); }, table.parameters(), y);
    y[y.rank() - 1] = 3;
    check_all_orders([&] { return padded(Index(ids, 3)); }, padded.parameters(), y);
    CHECK(equal(grad(sum(padded(Index(ids, 3))), padded.parameters())[0].value(), Array({4, 3}, Real(0))));
  }
  const nn::PositionalEncoding fixed{nn::root, 5, 3};
  const nn::PositionalEncoding learned{nn::root, 5, 3, {.kind = nn::Positions::learned}};
  for (const Shape& x : {Shape{0, 3}, Shape{1, 3}, Shape{2, 0, 3}, Shape{0, 2, 3}, Shape{1, 1, 3}}) {
    for (const std::int64_t first : {0, 4}) {
      if (first + x.dim(-2) > 5) continue;
      check_layer(
          fixed, [&](const Tensor& u) { return fixed(u, first); }, x, x);
      check_layer(
          learned, [&](const Tensor& u) { return learned(u, first); }, x, x);
    }
  }
  CHECK(nn::sinusoids(0, 3).shape() == Shape{0, 3});
  CHECK(nn::sinusoids(3, 0).shape() == Shape{3, 0});
  CHECK(equal(nn::sinusoids(1, 1), Array({1, 1}, {0})));
}

TEST_CASE("small shapes: recurrent layers and cells") {
  const nn::RNN rnn{nn::root, 3, 1, {.layers = 2, .bidirectional = true}};
  const nn::LSTM lstm{nn::root, 3, 2, {.layers = 2, .bidirectional = true, .proj_size = 1}}, one{nn::root, 1, 1};
  const nn::GRU gru{nn::root, 3, 1, {.bias = false}};
  for (const std::int64_t B : {0, 1, 2}) {
    for (const std::int64_t T : {1, 2}) {
      const Shape x{B, T, 3};
      const nn::RecurrentInput given{.lengths = Index(Shape{B}, 1)};
      check_layer(rnn, [&](const Tensor& u) { return rnn(u).output; }, x, {B, T, 2});
      check_layer(rnn, [&](const Tensor& u) { return rnn(u, given).h; }, x, {4, B, 1});
      check_layer(lstm, [&](const Tensor& u) { return lstm(u).output; }, x, {B, T, 2});
      check_layer(lstm, [&](const Tensor& u) { return lstm(u, given).c; }, x, {4, B, 2});
      check_layer(one, [&](const Tensor& u) { return one(u).output; }, {B, T, 1}, {B, T, 1});
      check_layer(gru, [&](const Tensor& u) { return gru(u).output; }, x, {B, T, 1});
      check_layer(gru, [&](const Tensor& u) { return gru(u, given).h; }, x, {1, B, 1});
    }
    error_of<ShapeError>([&] { rnn(variable(Array(Shape{B, 0, 3}))); });
    const nn::RNNCell rnn_cell{nn::root, 3, 1};
    const nn::LSTMCell lstm_cell{nn::root, 3, 1};
    const nn::GRUCell gru_cell{nn::root, 3, 1};
    check_layer(rnn_cell, {B, 3}, {B, 1});
    check_layer(lstm_cell, [&](const Tensor& u) { return lstm_cell(u).h; }, {B, 3}, {B, 1});
    check_layer(lstm_cell, [&](const Tensor& u) { return lstm_cell(u).c; }, {B, 3}, {B, 1});
    check_layer(gru_cell, {B, 3}, {B, 1});
  }
}

TEST_CASE("small shapes: sequence to sequence, and stacks of nothing") {
  for (const nn::Context context : {nn::Context::initial_state, nn::Context::every_step, nn::Context::attention}) {
    const nn::Seq2Seq model{nn::root, 4, 3, {.context = context, .embed = 2, .hidden = 1, .layers = 1}};
    for (const std::int64_t B : {0, 1, 2}) {
      CAPTURE(B);
      const Index lengths(Shape{B}, 1);
      const auto run = [&] { return model(Index(Shape{B, 2}, 3), lengths, Index(Shape{B, 1}, 2)); };
      check_all_orders(run, model.parameters(), {B, 1, 3});
      nn::Seq2SeqStepper steps = model.start(Index(Shape{B, 2}, 3), lengths);
      CHECK(nn::greedy(steps, {.max_length = 1}).lengths.shape() == Shape{B});
    }
    error_of<ShapeError>([&] { model(Index(Shape{1, 0}), index({0}), Index(Shape{1, 1}, 2)); });
  }
  const nn::Stack<nn::Linear> none{nn::root, 0, 1, 1};
  const Tensor x = variable(Array(Shape{0, 3}));
  CHECK(same(none(x), x));
}

}  // namespace
}  // namespace xgrad::testing
