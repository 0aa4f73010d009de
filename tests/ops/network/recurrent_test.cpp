// Recurrences: the kernel and its gradients against the composed form, lengths and directions.
#include "support/check.h"
#include "support/fused.h"
#include "support/threads.h"

#include <xgrad/ops/ops.h>

namespace xgrad::testing {
namespace {

// Everything that a recurrence gives, as one list of numbers.
Tensor all_of(const Recurrence& y) {
  Tensors parts{flatten(y.output), flatten(y.h)};
  if (y.c.defined()) parts.push_back(flatten(y.c));
  return concat(parts);
}

struct Kind {
  std::string name;
  std::int64_t gates;
  std::function<Recurrence(const Tensors& xs, const RecurrenceOptions&)> run;  // xs: x, weight, h and c or bias
  std::function<Shape(std::int64_t B, std::int64_t h)> fourth;
};

const std::vector<Kind> kinds{
    {"rnn tanh", 1,
     [](const Tensors& xs, const RecurrenceOptions& o) { return rnn(xs[0], xs[1], xs[2], Squash::tanh, o); }, nullptr},
    {"rnn relu", 1,
     [](const Tensors& xs, const RecurrenceOptions& o) { return rnn(xs[0], xs[1], xs[2], Squash::relu, o); }, nullptr},
    {"lstm", 4, [](const Tensors& xs, const RecurrenceOptions& o) { return lstm(xs[0], xs[1], xs[2], xs[3], o); },
     [](std::int64_t B, std::int64_t h) {
       return Shape{B, h};
     }},
    {"gru", 3, [](const Tensors& xs, const RecurrenceOptions& o) { return gru(xs[0], xs[1], xs[3], xs[2], o); },
     [](std::int64_t, std::int64_t h) { return Shape{3 * h}; }},
};

std::vector<Array> inputs_of(const Kind& kind, std::int64_t B, std::int64_t T, std::int64_t h, std::uint64_t seed = 1) {
  std::vector<Array> inputs{normal({B, T, kind.gates * h}, seed), normal({kind.gates * h, h}, seed + 1),
                            normal({B, h}, seed + 2)};
  if (kind.fourth) inputs.push_back(normal(kind.fourth(B, h), seed + 3));
  return inputs;
}

TEST_CASE("The kernel of a recurrence and its gradient equal the composed form") {
  // Wider than a register and no multiple of one; more sequences than one thread takes.
  const std::int64_t B = 67, T = 4;
  const Index lengths = arange(B) % T + 1;
  for (const Kind& kind : kinds) {
    for (const RecurrenceOptions& way : std::vector<RecurrenceOptions>{
             {}, {.reverse = true}, {.lengths = lengths}, {.lengths = lengths, .reverse = true}}) {
      CAPTURE(kind.name);
      check_fused([&](const Tensors& xs) { return all_of(kind.run(xs, way)); },
                  [&](const Tensors& xs) {
                    const Plain plain;
                    return all_of(kind.run(xs, way));
                  },
                  inputs_of(kind, B, T, 19), 1e-11);
    }
  }
}

TEST_CASE("Steps after a length give 0, have no influence, and get no gradient") {
  for (const Kind& kind : kinds) {
    for (const bool reverse : {false, true}) {
      CAPTURE(kind.name);
      CAPTURE(reverse);
      const RecurrenceOptions way{.lengths = Index({2}, {2, 3}), .reverse = reverse};
      std::vector<Array> inputs = inputs_of(kind, 2, 3, 5);
      const Tensors xs = variables(inputs);
      const Recurrence y = kind.run(xs, way);
      check_close(y.output[{0, 2}].value(), Array({5}, Real(0)), 0);
      const Array gx = grad(all_of(y), {xs[0]}, {.seed = normal(all_of(y).shape(), 6)})[0].value();
      const std::int64_t width = 5 * kind.gates;
      for (std::int64_t i = 0; i < width; ++i) CHECK(gx.data()[2 * width + i] == 0);

      std::fill_n(inputs[0].mutable_data() + 2 * width, width, std::numeric_limits<Real>::quiet_NaN());
      check_close(all_of(kind.run(variables(inputs), way)).value(), all_of(y).value(), 0);
    }
  }
}

TEST_CASE("Recurrences give the same bits for any number of threads") {
  for (const Kind& kind : kinds) {
    const Tensors xs = variables(inputs_of(kind, 70, 3, 9));
    check_same_bits([&] {
      const Tensor y = all_of(kind.run(xs, {}));
      Tensors results{y};
      for (const Tensor& g : grad(y, xs, {.seed = normal(y.shape(), 7)})) results.push_back(flatten(g));
      return concat(results);
    });
  }
}

TEST_CASE("Recurrences refuse what does not fit") {
  const Tensor x = zeros({2, 3, 8}), weight = zeros({8, 2}), h = zeros({2, 2}), c = zeros({2, 2});
  CHECK_REFUSED(ShapeError, lstm(zeros({3, 8}), weight, h, c), "lstm", "inputs (B, T, 8)", ">= 1", "[3, 8]");
  CHECK_REFUSED(ShapeError, lstm(zeros({2, 0, 8}), weight, h, c), "lstm", "inputs (B, T, 8)", ">= 1", "[2, 0, 8]");
  CHECK_REFUSED(ShapeError, lstm(x, zeros({8, 3}), h, c), "lstm", "weight of shape [8, 3]", "[8, 2]");
  CHECK_REFUSED(ShapeError, lstm(x, weight, zeros({1, 2}), c), "lstm", "state of shape [1, 2]", "[2, 2]");
  CHECK_REFUSED(ShapeError, lstm(x, weight, h, zeros({3, 2})), "lstm", "memory of shape [3, 2]", "[2, 2]");
  CHECK_REFUSED(ShapeError, lstm(x, weight, zeros({2, 2, 1}), c), "lstm", "state (B, h)", "[2, 2, 1]");
  CHECK_REFUSED(ShapeError, gru(x, weight, zeros({8}), h), "gru", "inputs (B, T, 6)", ">= 1", "[2, 3, 8]");
  CHECK_REFUSED(ShapeError, gru(zeros({2, 3, 6}), zeros({6, 2}), zeros({5}), h), "gru", "bias of shape [5]", "[6]");
  CHECK_REFUSED(ShapeError, rnn(zeros({2, 3, 2}), zeros({2, 1}), h, Squash::tanh), "rnn", "weight of shape [2, 1]",
                "[2, 2]");
  // Where input and weight agree, it is the state that does not fit.
  const Tensor wide = zeros({2, 3});
  CHECK_REFUSED(ShapeError, lstm(x, weight, wide, c), "lstm", "state of shape [2, 3]", "[2, 2]");
  CHECK_REFUSED(ShapeError, lstm(x, weight, h, wide), "lstm", "memory of shape [2, 3]", "[2, 2]");
  CHECK_REFUSED(ShapeError, gru(zeros({2, 3, 6}), zeros({6, 2}), zeros({6}), wide), "gru", "state of shape [2, 3]",
                "[2, 2]");
  CHECK_REFUSED(ShapeError, rnn(zeros({2, 3, 2}), zeros({2, 2}), wide, Squash::tanh), "rnn", "state of shape [2, 3]",
                "[2, 2]");
  const auto with = [&](const Index& lengths) { lstm(x, weight, h, c, {.lengths = lengths}); };
  CHECK_REFUSED(ValueError, with(index({3, 4})), "lstm", "length 4 of sequence 1", "[1, 3]");
  CHECK_REFUSED(ValueError, with(index({0, 3})), "lstm", "length 0 of sequence 0", "[1, 3]");
  CHECK_REFUSED(ValueError, with(index({3, -1})), "lstm", "length -1 of sequence 1", "[1, 3]");
  CHECK_REFUSED(ShapeError, with(index({1, 1, 1})), "lstm", "lengths of shape [3]", "2 sequences");
}

}  // namespace
}  // namespace xgrad::testing
