// Sizes that make no sense, as those of members that have no value yet: every layer refuses them by its name.
#include "support/check.h"

#include <functional>

#include <xgrad/xgrad.h>

namespace xgrad::testing {
namespace {

using namespace nn;
using namespace nn::pytorch;

struct Row {
  const char* layer;
  std::function<void(At, std::int64_t)> make;  // a layer with one size
};

template <class Layer>
Row two_sizes(const char* name) {
  return {name, [](At here, std::int64_t size) { Layer(here, size, 2); }};
}

const PositionalEncodingOptions learned{.kind = Positions::learned};

// The layers that have parameters or tables of their own; others are made of these.
const Row rows[] = {
    two_sizes<Linear>("Linear"),
    two_sizes<Embedding>("Embedding"),
    two_sizes<PositionalEncoding>("PositionalEncoding"),
    two_sizes<RNN>("RNN"),
    two_sizes<LSTM>("LSTM"),
    two_sizes<GRU>("GRU"),
    two_sizes<RNNCell>("RNNCell"),
    two_sizes<LSTMCell>("LSTMCell"),
    two_sizes<GRUCell>("GRUCell"),
    two_sizes<MultiheadAttention>("MultiheadAttention"),
    two_sizes<MultiHeadAttention>("MultiHeadAttention"),
    two_sizes<LinearAttention>("LinearAttention"),
    {"LSTM", [](At here, std::int64_t size) { LSTM(here, 2, size); }},
    {"LSTM", [](At here, std::int64_t size) { LSTM(here, 2, 2, {.layers = size}); }},
    {"PositionalEncoding", [](At here, std::int64_t size) { PositionalEncoding(here, 2, size); }},
    {"PositionalEncoding", [](At here, std::int64_t size) { PositionalEncoding(here, size, 2, learned); }},
    {"LayerNorm", [](At here, std::int64_t size) { LayerNorm(here, size); }},
    {"LayerNorm", [](At here, std::int64_t size) { LayerNorm(here, Shape({size, 3})); }},
    {"BatchNorm1d", [](At here, std::int64_t size) { BatchNorm1d(here, size); }},
};

struct Model : Module {
  At place() { return at("layer"); }
};

TEST_CASE("every layer refuses a size that makes no sense, and says who, what and a guess at why") {
  for (const Row& row : rows) {
    const std::string layer = row.layer;
    CAPTURE(layer);
    Model model;
    for (const std::int64_t size : {std::int64_t(140'729'203'840'632), std::numeric_limits<std::int64_t>::max()}) {
      CHECK_REFUSED(LimitError, row.make(model.place(), size), layer, str(size),
                    "declared after this layer?\n  in layer");
    }
    for (const std::int64_t size : {std::int64_t(0), std::int64_t(-140'729'203'840'632)}) {
      CHECK_REFUSED(ValueError, row.make(model.place(), size), layer, str(size),
                    "is a size declared after this layer?\n  in layer");
    }
    CHECK(model.children().empty());
    CHECK(model.parameters().empty());
  }
}

TEST_CASE("sizes that make no sense together are refused, too") {
  // The halves of a pointer as 32-bit numbers.
  constexpr std::int64_t high = 32767, low = 1'431'654'909;
  Model model;
  const std::function<void()> makes[] = {
      [&] { Linear(model.place(), high, low); },
      [&] { Embedding(model.place(), low, high); },
      [&] { PositionalEncoding(model.place(), high, low, learned); },
      [&] { PositionalEncoding(model.place(), high, low); },
      [&] { GRU(model.place(), high, low); },
      [&] { LSTMCell(model.place(), low, high); },
      [&] { MultiheadAttention(model.place(), low, 1); },
      [&] { LayerNorm(model.place(), Shape({high, low})); },
      [&] { Mlp(model.place(), {.in = high, .hidden = low}); },
  };
  for (const auto& make : makes) {
    const std::string message = error_of<LimitError>(make);
    CHECK(message.find("; is a size declared after this layer?\n  in layer") != std::string::npos);
  }
  CHECK(model.children().empty());
  CHECK_REFUSED(LimitError, GRU(model.place(), 2, 2, {.layers = low}), "GRU", "1431654909", "in layer");
}

}  // namespace
}  // namespace xgrad::testing
