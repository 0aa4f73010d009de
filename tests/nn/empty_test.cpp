// Batches without samples, sequences without steps, and size 1, where the catalogue of layers has no row: results, gradients
// with respect to inputs and parameters, and second gradients.
#include "support/orders.h"

#include <xgrad/nn/nn.h>
#include <xgrad/ops/ops.h>

namespace xgrad::testing {
namespace {

TEST_CASE("small shapes: states of recurrent layers and cells, and no steps") {
  const nn::RNN rnn{nn::root, 3, 1, {.layers = 2, .bidirectional = true}};
  const nn::LSTM lstm{nn::root, 3, 2, {.layers = 2, .bidirectional = true}};
  const nn::GRU gru{nn::root, 3, 1, {.bias = false}};
  const nn::LSTMCell cell{nn::root, 3, 1};
  for (const std::int64_t B : {0, 1, 2}) {
    for (const std::int64_t T : {1, 2}) {
      const Array x = normal({B, T, 3}, 7);
      const nn::RecurrentInput given{.lengths = Index(Shape{B}, 1)};
      check_edge([&](const Tensors& u) { return rnn(u[0], given).h; }, {x}, {4, B, 1}, rnn.parameters());
      check_edge([&](const Tensors& u) { return lstm(u[0], given).c; }, {x}, {4, B, 2}, lstm.parameters());
      check_edge([&](const Tensors& u) { return gru(u[0], given).h; }, {x}, {1, B, 1}, gru.parameters());
    }
    check_edge([&](const Tensors& u) { return cell(u[0]).c; }, {normal({B, 3}, 7)}, {B, 1}, cell.parameters());
    error_of<ShapeError>([&] { rnn(variable(Array(Shape{B, 0, 3}))); });
  }
}

TEST_CASE("small shapes: decoding, ids and positions of none, and stacks of nothing") {
  for (const nn::Context context :
       {nn::Context::initial_state, nn::Context::every_step, nn::Context::mean, nn::Context::attention}) {
    const nn::Seq2Seq model{nn::root, 4, 3, {.context = context, .embed = 2, .hidden = 1, .layers = 1}};
    for (const std::int64_t B : {0, 1, 2}) {
      nn::Seq2SeqStepper steps = model.start(Index(Shape{B, 2}, 3), Index(Shape{B}, 1));
      CHECK(nn::greedy(steps, {.max_length = 1}).lengths.shape() == Shape{B});
    }
    error_of<ShapeError>([&] { model(Index(Shape{1, 0}), index({0}), Index(Shape{1, 1}, 2)); });
  }
  const nn::Embedding table{nn::root, 4, 3};
  for (const Shape& ids : {Shape{}, Shape{0}, Shape{1}, Shape{2, 0}, Shape{0, 2}}) {
    Shape y = ids;
    y.push_back(3);
    check_all_orders([&] { return table(Index(ids, 3)); }, table.parameters(), y);
  }
  CHECK(nn::sinusoids(0, 3).shape() == Shape{0, 3});
  CHECK(nn::sinusoids(3, 0).shape() == Shape{3, 0});
  CHECK(equal(nn::sinusoids(1, 1), Array({1, 1}, {0})));
  const nn::Stack<nn::Linear> none{nn::root, 0, 1, 1};
  const Tensor x = variable(Array(Shape{0, 3}));
  CHECK(same(none(x), x));
}

}  // namespace
}  // namespace xgrad::testing
