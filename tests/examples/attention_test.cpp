// Attention weights for heat maps: the shapes of the translation example, that masked entries are 0, and the picture.
#include <doctest/doctest.h>

#include <xgrad/kit/attention.h>
#include <xgrad/xgrad.h>

namespace xgrad::testing {
namespace {

TEST_CASE("the weights of a translation of six tokens have the book's shapes, and masked entries are 0") {
  manual_seed(1);
  const nn::EncoderDecoder model{nn::root, 20, 22, {.dim = 32, .ffn = 64, .heads = 4, .layers = 2, .dropout = 0}};
  const nn::Eval eval(model);
  const Index source({2, 10}, 5), lengths({2}, {10, 4});
  const nn::AttentionRecorder recorder;
  auto decoding = model.start(source, lengths);
  nn::greedy(decoding, {.bos = 1, .max_length = 6});

  const Array encoder = kit::attention_weights(recorder, ".attn", {.row = 1});
  const Array decoder = kit::attention_weights(recorder, ".self_attn", {.row = 1, .keys = 10});
  const Array cross = kit::attention_weights(recorder, ".cross_attn", {.row = 1});
  CHECK(encoder.shape() == Shape{2, 4, 10, 10});
  CHECK(decoder.shape() == Shape{2, 4, 6, 10});
  CHECK(cross.shape() == Shape{2, 4, 6, 10});
  const auto check = [](const Array& weights, const auto& visible) {
    for (std::int64_t layer = 0; layer < 2; ++layer) {
      for (std::int64_t h = 0; h < 4; ++h) {
        for (std::int64_t t = 0; t < weights.dim(2); ++t) {
          double sum = 0;
          for (std::int64_t s = 0; s < 10; ++s) {
            const Real weight = weights.at({layer, h, t, s});
            CHECK((weight > 0) == visible(t, s));
            sum += weight;
          }
          CHECK(sum == doctest::Approx(1));
        }
      }
    }
  };
  check(encoder, [](std::int64_t, std::int64_t s) { return s < 4; });
  check(decoder, [](std::int64_t t, std::int64_t s) { return s <= t; });
  check(cross, [](std::int64_t, std::int64_t s) { return s < 4; });

  CHECK_THROWS_AS(kit::attention_weights(recorder, ".nothing"), ValueError);
  CHECK_THROWS_AS(kit::attention_weights(recorder, ".attn", {.row = 2}), ValueError);
  CHECK_THROWS_AS(kit::attention_weights(recorder, ".attn", {.keys = 9}), ValueError);
}

TEST_CASE("the weights of a beam are those of one pass over what it wrote") {
  manual_seed(2);
  const nn::EncoderDecoder model{nn::root, 20, 22, {.dim = 16, .ffn = 32, .heads = 2, .layers = 2, .dropout = 0}};
  const nn::Eval eval(model);
  const Index source({1, 5}, {4, 9, 3, 12, 2}), lengths({1}, 5);
  const nn::AttentionRecorder beams;
  auto decoding = model.start(source, lengths);
  const nn::Hypothesis best = nn::beam_search(decoding, {.bos = 1, .eos = 2, .max_length = 7, .num_beams = 4})[0][0];
  std::vector<std::int64_t> tokens = best.tokens;
  tokens.resize(best.rows.size(), 2);

  const nn::AttentionRecorder recorder;
  model(source, lengths, nn::shift_right(Index({1, std::ssize(tokens)}, tokens), 1));
  for (const char* kind : {".self_attn", ".cross_attn"}) {
    const Array expected = kit::attention_weights(recorder, kind);
    const Array found = kit::attention_weights(beams, kind, {.rows = best.rows, .keys = expected.dim(3)});
    REQUIRE(found.shape() == expected.shape());
    for (std::int64_t i = 0; i < found.size(); ++i) {
      CHECK(found.data()[i] == doctest::Approx(expected.data()[i]).epsilon(1e-4));
    }
  }
}

TEST_CASE("weights of all layers and heads are panels in order, a layer a row") {
  Array weights(Shape{2, 3, 1, 4});
  for (std::int64_t i = 0; i < weights.size(); ++i) weights.mutable_data()[i] = static_cast<Real>(i);
  const kit::HeatMaps maps{.title = "all", .queries = {"q"}, .keys = {"a", "b", "c", "d"}};
  kit::HeatMaps expected = maps;
  expected.columns = 3;
  for (double first = 0; first < 24; first += 4) {
    const int layer = 1 + static_cast<int>(first) / 12, head = 1 + static_cast<int>(first) % 12 / 4;
    expected.panels.push_back({cat("layer ", layer, ", head ", head), {first, first + 1, first + 2, first + 3}});
  }
  CHECK(kit::attention_svg(weights, maps) == kit::heat_map_svg(expected));
  CHECK_THROWS_AS(kit::attention_svg(Array({2, 4}, 1), maps), ShapeError);
  CHECK_THROWS_AS(kit::attention_svg(Array({2, 3, 1, 5}, 1), maps), ValueError);
}

}  // namespace
}  // namespace xgrad::testing
