// Linear, Mlp, Dropout, Embedding, positions and convolutions: what they print, begin with, do and refuse.
#include "../support.h"

#include <cmath>

#include <xgrad/xgrad.h>

namespace xgrad::testing {
namespace {

using namespace nn;

TEST_CASE("A shared weight is one parameter") {
  struct Tied : Module {
    Linear first{at("first"), 3, 2};
    Linear second{at("second"), 3, 2, {.bias = false, .weight = first.weight}};
  } tied;
  CHECK(tied.num_parameters() == 8);
  CHECK(same(tied.second.weight, tied.first.weight));
  CHECK_REFUSED(ShapeError, Linear(root, 2, 3, {.weight = tied.first.weight}), "linear", "shape [2, 3]", "[3, 2]");
}

TEST_CASE("Linear refuses bad inputs, naming the layer") {
  struct Model : Module {
    Linear head{at("head"), 512, 64};
  } model;
  CHECK_REFUSED(ShapeError, model.head(Array({2, 256}, Real(0))), "linear", "[2, 256]", "[64, 512]",
                "\n  in head (Linear 512 -> 64)");
}

TEST_CASE("Mlp prints as nn/module.h shows") {
  CHECK(Mlp(root, {.in = 2, .hidden = 3, .bias = false}).num_parameters() == 12);
  CHECK(to_string(Mlp{root, {.in = 4, .hidden = 8, .out = 2}}) ==
        "Mlp 4 -> 8 -> 2       58\n"
        "  fc1: Linear 4 -> 8  40\n"
        "    weight [8, 4]     32\n"
        "    bias [8]           8\n"
        "  fc2: Linear 8 -> 2  18\n"
        "    weight [2, 8]     16\n"
        "    bias [2]           2\n"
        "  dropout: Dropout 0\n");
}

TEST_CASE("Mlp and positions drop in training, never otherwise") {
  const auto check = [](const auto& layer) {
    const Tensor x(normal({2, 5, 8}));
    CHECK(!equal(layer(x).value(), layer(x).value()));
    const Eval eval(layer);
    CHECK(equal(layer(x).value(), layer(x).value()));
  };
  check(Mlp{root, {.in = 8, .hidden = 8, .dropout = 0.5}});
  check(PositionalEncoding{root, 9, 8, {.dropout = 0.5}});
}

TEST_CASE("Layers of dropout draw by the generator, in training only") {
  const Tensor x = variable(normal({16, 3, 4, 2}));
  const auto check = [&](const auto& layer) {
    CAPTURE(layer.description());
    manual_seed(3);
    const Array drawn = layer(x).value();
    CHECK(!equal(drawn, x.value()));
    manual_seed(3);
    CHECK(equal(layer(x).value(), drawn));
    CHECK(!equal(layer(x).value(), drawn));
    const Eval eval(layer);
    CHECK(same(layer(x), x));
  };
  check(Dropout(root, 0.25));
  check(Dropout2d(root, 0.5));
  check(DropPath(root, 0.5));
}

TEST_CASE("Drop path zeroes or scales whole samples") {
  const Tensor x = variable(Array({4000, 1, 2}, Real(3)));
  manual_seed(5);
  const Tensor y = DropPath(root, 0.25)(x);
  std::int64_t dropped = 0;
  for (std::int64_t b = 0; b < 4000; ++b) {
    const Real first = y.value().data()[2 * b];
    CHECK((first == 0 || first == 4));
    CHECK(y.value().data()[2 * b + 1] == first);
    dropped += first == 0;
  }
  CHECK(std::abs(dropped - 1000) < 100);  // 3.7 standard deviations
  CHECK(equal(grad(y, {x}, {.seed = Array(x.shape(), Real(3))})[0].value(), y.value()));
  CHECK(equal(DropPath(root, 1)(x).value(), Array(x.shape(), Real(0))));
}

TEST_CASE("Dropout and drop path refuse what is no probability, and drop path a scalar") {
  CHECK_REFUSED(ValueError, Dropout(root, -0.1), "Dropout", "p -0.1 is not in [0, 1]");
  CHECK_REFUSED(ValueError, Dropout(root, 1.5), "Dropout", "p 1.5 is not in [0, 1]");
  CHECK_THROWS_AS(Dropout(root, std::nan("")), ValueError);
  CHECK_REFUSED(ValueError, Dropout2d(root, 2), "Dropout2d", "p 2 is not in [0, 1]");
  CHECK_REFUSED(ValueError, DropPath(root, -0.1), "DropPath", "p -0.1 is not in [0, 1]");
  CHECK_THROWS_AS(DropPath(root, std::nan("")), ValueError);
  CHECK_REFUSED(ShapeError, DropPath(root, 0.5)(Tensor(1)), "drop_path", "needs (B, ...), got []");
  CHECK(equal(Dropout(root, 1)(Array({2}, Real(3))).value(), Array({2}, Real(0))));
}

TEST_CASE("Embedding is one_hot times the table, values and gradients") {
  const Embedding table{root, 7, 4};
  const Index ids({2, 3}, {1, 2, 6, 2, 0, 2});
  const Tensor looked_up = table(ids), multiplied = matmul(one_hot(ids, 7), table.weight);
  CHECK(looked_up.shape() == Shape{2, 3, 4});
  check_close(looked_up.value(), multiplied.value());
  const Tensor seed(normal({2, 3, 4}));
  check_close(grad(looked_up, {table.weight}, {.seed = seed})[0].value(),
              grad(multiplied, {table.weight}, {.seed = seed})[0].value());
}

TEST_CASE("The padding row begins as zeros and gets no gradient") {
  for (const std::int64_t padding : {2, -5}) {
    const Embedding table{root, 7, 4, {.padding_idx = padding}};
    const Tensor y = table(Index({3}, {1, 2, 2}));
    CHECK(equal(y.value()[{1}], Array({4}, Real(0))));
    CHECK(equal(grad(y, {table.weight}, {.seed = ones({3, 4}).value()})[0].value()[{2}], Array({4}, Real(0))));
  }
  CHECK_REFUSED(ValueError, Embedding(root, 7, 4, {.padding_idx = 7}), "embedding", "padding_idx 7 of 7 rows");
}

TEST_CASE("An id outside the table is refused, naming the layer") {
  struct Model : Module {
    Embedding token{at("token"), 10, 2};
  } model;
  CHECK_REFUSED(ValueError, model.token(Index({2}, {3, 10})), "embedding", "index 10", "[0, 10)", "in token");
  CHECK_THROWS_AS(model.token(Index({1}, {-1})), ValueError);
}

TEST_CASE("Interleaved sinusoids are sin(i / 10000^(2j/C)) and cos of the same, side by side") {
  const Array p = sinusoids(60, 32);
  CHECK(p.shape() == Shape{60, 32});
  for (const int i : {0, 1, 7, 59}) {
    for (const int j : {0, 3, 15}) {
      CHECK(p.at({i, 2 * j}) == doctest::Approx(std::sin(i / std::pow(10000.0, 2 * j / 32.0))).epsilon(1e-12));
      CHECK(p.at({i, 2 * j + 1}) == doctest::Approx(std::cos(i / std::pow(10000.0, 2 * j / 32.0))).epsilon(1e-12));
    }
  }
}

TEST_CASE("Concatenated sinusoids are the same numbers, sines first") {
  const Array p = sinusoids(20, 8), q = sinusoids(20, 8, Sinusoids::concatenated);
  for (int i = 0; i < 20; ++i) {
    for (int j = 0; j < 4; ++j) {
      CHECK(q.at({i, j}) == p.at({i, 2 * j}));
      CHECK(q.at({i, 4 + j}) == p.at({i, 2 * j + 1}));
    }
  }
  CHECK(sinusoids(3, 5).at({2, 4}) == doctest::Approx(std::sin(2 / std::pow(10000.0, 4 / 5.0))));
  CHECK(sinusoids(3, 5, Sinusoids::concatenated).at({2, 3}) == doctest::Approx(std::cos(2.0)));
}

TEST_CASE("Shifting by delta is a rotation of each pair by an angle that delta alone decides") {
  const int C = 16;
  const Array p = sinusoids(100, C);
  for (const int delta : {1, 5, 37}) {
    for (int j = 0; j < C / 2; ++j) {
      const double angle = delta / std::pow(10000.0, 2.0 * j / C), c = std::cos(angle), s = std::sin(angle);
      for (const int i : {0, 1, 20, 62}) {
        const double sine = p.at({i, 2 * j}), cosine = p.at({i, 2 * j + 1});
        CHECK(p.at({i + delta, 2 * j}) == doctest::Approx(c * sine + s * cosine).epsilon(1e-10));
        CHECK(p.at({i + delta, 2 * j + 1}) == doctest::Approx(-s * sine + c * cosine).epsilon(1e-10));
      }
    }
  }
}

TEST_CASE("Positions are added from the place on where the sequence is") {
  const PositionalEncoding fixed{root, 10, 6}, learned{root, 10, 6, {.kind = Positions::learned}};
  const Array sines = sinusoids(10, 6);
  const Tensor zero(Array({2, 4, 6}, Real(0)));
  for (const std::int64_t first : {0, 3, 6}) {
    const Array a = fixed(zero, first).value(), b = learned(zero, first).value();
    for (const std::int64_t row : {0, 1}) {
      for (const std::int64_t t : {0, 3}) {
        CHECK(a.at({row, t, 5}) == sines.at({first + t, 5}));
        CHECK(b.at({row, t, 2}) == learned.weight.value().at({first + t, 2}));
      }
    }
  }
  CHECK(fixed.state_dict().empty());
  CHECK_REFUSED(ValueError, fixed(zero, 7), "positions", "4 positions from 7 on do not fit a table of 10");
  CHECK_REFUSED(ShapeError, learned(Array({2, 4, 5}, Real(0))), "positions", "needs (..., T, 6), got [2, 4, 5]");
}

TEST_CASE("Positions are joined to the words, or left out") {
  const Tensor x(normal({2, 4, 6}));
  const PositionalEncoding joined{root, 10, 6, {.kind = Positions::joined}};
  const Tensor both = joined(x, 3);
  CHECK(equal(both[{ellipsis, slice(0, 6)}].value(), x.value()));
  for (const std::int64_t row : {0, 1}) {
    CHECK(equal(both[{row, _, slice(6, 12)}].value(), Tensor(sinusoids(10, 6))[{slice(3, 7)}].value()));
  }
  const PositionalEncoding none{root, 10, 6, {.kind = Positions::none}};
  CHECK(equal(none(x, 100).value(), x.value()));
}

TEST_CASE("Convolutional layers refuse settings that do not fit together, and take first numbers") {
  const Conv1d striding{root, 4, 6, 3, {.stride = 2, .padding = same_padding}};
  CHECK_REFUSED(ValueError, striding(normal({2, 4, 9})), "conv1d", "same_padding needs stride 1");
  CHECK_REFUSED(ValueError, Conv2d(root, 3, 4, 3, {.groups = 2}), "conv", "in 3 cannot be divided into 2 groups");
  CHECK_REFUSED(ValueError, Conv1d(root, 4, 3, 3, {.groups = 2}), "conv", "out 3 cannot be divided into 2 groups");
  CHECK_REFUSED(ValueError, ConvTranspose2d(root, 4, 4, 3, {.groups = 0}), "conv", "4", "0 groups");
  const Conv2d ones(root, 1, 1, 2, {.init = init::ones(), .bias_init = init::zeros()});
  CHECK(equal(ones(Array(Shape{1, 1, 2, 2}, Real(1))).value(), Array({1, 1, 1, 1}, {4})));
}

}  // namespace
}  // namespace xgrad::testing
