// Attention weights for heat maps: the shapes of the translation example, that masked entries are 0, labels and averages.
#include <doctest/doctest.h>

#include <xgrad/kit/draw/attention.h>
#include <xgrad/kit/draw/word_attention.h>
#include <xgrad/xgrad.h>

#include "support.h"

namespace xgrad::testing {
namespace {

using kit::testing::check_labels;
using kit::testing::check_svg;
using kit::testing::count_of;
using kit::testing::hostile;

/// Two layers of two heads, three queries, four keys.
Array some_weights() {
  Array weights(Shape{2, 2, 3, 4});
  const Real rows[3][4] = {{0.5, 0.25, 0.25, 0}, {0.125, 0.75, 0.125, 0}, {0, 0.25, 0.5, 0.25}};
  for (std::int64_t i = 0; i < weights.size(); ++i) {
    // Heads are 0.5, 1, 1 and 1.5 times the rows, so that the mean is the rows.
    const Real factor[4] = {0.5, 1, 1, 1.5};
    weights.mutable_data()[i] = factor[i / 12] * rows[i / 4 % 3][i % 4];
  }
  return weights;
}

TEST_CASE("the weights of a translation of six tokens have the book's shapes, and masked entries are 0") {
  manual_seed(1);
  const nn::EncoderDecoder model{nn::root, 20, 22, {.dim = 32, .ffn = 64, .heads = 4, .layers = 2, .dropout = 0}};
  const nn::Eval eval(model);
  const Index source({2, 10}, 5), lengths({2}, {10, 4});
  nn::AttentionRecorder recorder;
  auto decoding = model.start(source, lengths);
  nn::greedy(decoding, {.bos = 1, .max_length = 6});

  const Array encoder = kit::attention_weights(recorder, ".attn", {.row = 1});
  const Array decoder = kit::attention_weights(recorder, ".self_attn", {.row = 1});  // each step has one key more
  const Array cross = kit::attention_weights(recorder, ".cross_attn", {.row = 1});
  CHECK(encoder.shape() == Shape{2, 4, 10, 10});
  CHECK(decoder.shape() == Shape{2, 4, 6, 6});
  CHECK(cross.shape() == Shape{2, 4, 6, 10});
  const auto check = [](const Array& weights, const Mask& visible) {
    CHECK(equal(Tensor(weights) > 0, broadcast_to(visible, weights.shape())));
    CHECK(max(abs(sum(Tensor(weights), -1) - 1)).item() < 1e-5);
  };
  check(encoder, arange(10) < 4);
  check(decoder, arange(6) <= reshape(arange(6), {6, 1}));
  check(cross, arange(10) < 4);

  CHECK_REFUSED(ValueError, kit::attention_weights(recorder, ".nothing"), "attention_weights", "of '.nothing'",
                "[decoder.blocks.0.cross_attn, decoder.blocks.0.self_attn,",
                "encoder.blocks.0.attn, encoder.blocks.1.attn]");
  CHECK_THROWS_AS(kit::attention_weights(recorder, ".attn", {.row = 2}), ValueError);
}

TEST_CASE("the weights of a layer by itself are those of its only step") {
  const nn::MultiHeadAttention attn{nn::root, 4, 2};
  const nn::Eval eval(attn);
  nn::AttentionRecorder recorder;
  const Tensor q = ones({1, 3, 4}), k = ones({1, 5, 4});
  attn(q, k, k);
  CHECK(kit::attention_weights(recorder, "").shape() == Shape{1, 2, 3, 5});
}

TEST_CASE("weights of layers that do not fit together are refused") {
  struct Net : nn::Module {
    nn::MultiHeadAttention a{at("a"), 4, 2}, b{at("b"), 4, 2}, of_four_heads{at("of_four_heads"), 4, 4};
  } net;
  const nn::Eval eval(net);
  const Tensor three = ones({2, 3, 4}), two = ones({2, 2, 4});
  const auto refusal = [&](const auto& run, const kit::WeightsOptions& options = {}) {
    const nn::AttentionRecorder recorder;
    run();
    return error_of<ValueError>([&] { kit::attention_weights(recorder, "", options); });
  };
  const std::string begin = "attention_weights: of '': ";
  const auto of_a = [&] { net.a(three, two, two); };
  CHECK(refusal(of_a, {.row = 2}) == begin + "they do not fit together");
  CHECK(refusal(of_a, {.row = -1}) == begin + "they do not fit together");
  CHECK(refusal([&] { of_a(), net.of_four_heads(three, two, two); }) == begin + "they do not fit together");
  CHECK(refusal([&] { of_a(), net.b(two, two, two); }) == begin + "layers ran for different numbers of steps");
}

TEST_CASE("the weights of a beam are those of one pass over what it wrote") {
  manual_seed(2);
  const nn::EncoderDecoder model{nn::root, 20, 22, {.dim = 16, .ffn = 32, .heads = 2, .layers = 2, .dropout = 0}};
  const nn::Eval eval(model);
  const Index source({1, 5}, {4, 9, 3, 12, 2}), lengths({1}, 5);
  nn::AttentionRecorder beams;
  auto decoding = model.start(source, lengths);
  const nn::Hypothesis best = nn::beam_search(decoding, {.bos = 1, .eos = 2, .max_length = 7, .num_beams = 4})[0][0];
  std::vector<std::int64_t> tokens = best.tokens;
  tokens.resize(best.rows.size(), 2);

  nn::AttentionRecorder recorder;
  model(source, lengths, nn::shift_right(Index({1, std::ssize(tokens)}, tokens), 1));
  for (const char* kind : {".self_attn", ".cross_attn"}) {
    const Array expected = kit::attention_weights(recorder, kind);
    check_close(kit::attention_weights(beams, kind, {.rows = best.rows}), expected, 1e-4);
  }
}

TEST_CASE("a panel for each head, or one for the mean of a layer's heads") {
  const Array wide({2, 2, 1, 4}, {1, 0, 0, 0, 0.5, 0.5, 0, 0, 0.25, 0.75, 0, 0, 0, 1, 0, 0});
  const kit::HeatMaps maps{.queries = {"q"}, .keys = {"a", "b", "c", "d"}};
  check_labels(kit::attention_svg(wide, maps), 1, {"layer 1, head 1", "layer 2, head 2"});
  const std::string means = kit::attention_svg(wide, maps, kit::Average::heads);
  check_labels(means, 1, {"layer 1, mean", "layer 2, mean"});
  check_svg(means, 1, {"<title>q → a  0.750</title>", "<title>q → b  0.875</title>"});
  check_labels(kit::attention_svg(Array({1, 2, 1, 4}, 1), maps), 1, {"head 2"});
  check_labels(kit::attention_svg(Array({2, 1, 1, 4}, 1), maps), 1, {"layer 2"});
  CHECK_REFUSED(ShapeError, kit::attention_svg(Array({2}, 1), maps), "attention_svg", "(layers, H, T, S), got [2]");
  CHECK_REFUSED(ShapeError, kit::attention_svg(Array(Shape{2, 0, 1, 4}), maps), "attention_svg",
                "no weights in [2, 0");
  CHECK_THROWS_AS(kit::attention_svg(Array({2, 3, 1, 4}, 2), maps), ValueError);
  CHECK_REFUSED(ValueError, kit::attention_svg(Array({2, 3, 1, 5}, 1), maps), "attention_svg",
                "weights of 1 queries and 5 keys for 1 and 4 labels", "weights[{_, _, slice(0, 1), slice(0, 4)}]",
                "decode with a cache");
}

TEST_CASE("rows of an encoder are what is read, those of a decoder what is predicted") {
  using Strings = std::vector<std::string>;
  const kit::HeatMaps encoder = kit::encoder_maps({"go", "<eos>"}, {.title = "title"});
  CHECK(encoder.title == "title");
  CHECK(encoder.queries == Strings{"go", "<eos>"});
  CHECK(encoder.keys == encoder.queries);
  CHECK(encoder.masked.empty());

  const kit::HeatMaps decoder = kit::decoder_maps("<bos>", {"va", "<eos>"}, {.title = "title"});
  CHECK(decoder.title == "title");
  CHECK(decoder.queries == Strings{"va", "<eos>"});
  CHECK(decoder.keys == Strings{"<bos>", "va"});
  CHECK(decoder.masked == std::vector<bool>{false, true, false, false});

  const kit::HeatMaps cross = kit::cross_maps({"va", "<eos>"}, {"go", ".", "<eos>"}, {.title = "title"});
  CHECK(cross.title == "title");
  CHECK(cross.queries == Strings{"va", "<eos>"});
  CHECK(cross.keys == Strings{"go", ".", "<eos>"});
  CHECK(cross.masked.empty());
  const auto captions = [](const kit::HeatMaps& maps) { return maps.query_caption + ", " + maps.key_caption; };
  CHECK(captions(encoder) == "query (the token it reads), key (the token it reads)");
  CHECK(captions(decoder) == "query (the token it predicts), key (the token it reads)");
  CHECK(captions(cross) == "query (the token it predicts), key (the token of the source)");

  CHECK_REFUSED(ValueError, kit::encoder_maps({}), "encoder_maps", "there are no tokens");
  CHECK_REFUSED(ValueError, kit::decoder_maps("<bos>", {}), "decoder_maps", "there are no tokens");
  CHECK_REFUSED(ValueError, kit::cross_maps({"va"}, {}), "cross_maps", "there are no tokens");
}

TEST_CASE("the keys with most weight, of each query, on the average of all heads") {
  const Array weights = some_weights();
  kit::HeatMaps maps = kit::cross_maps({"il", "est", "calme"}, {"he's", "calm", ".", "<pad>"});
  const std::vector<bool> padding{false, false, false, true, false, false, false, true, false, false, false, true};
  maps.masked = padding;
  const auto found = kit::alignments(weights, maps, 2);
  REQUIRE(found.size() == 3);
  const double expected[3][2][2] = {{{0, 0.5}, {1, 0.25}}, {{1, 0.75}, {0, 0.125}}, {{2, 0.5}, {1, 0.25}}};
  for (std::size_t t = 0; t < 3; ++t) {
    REQUIRE(found[t].size() == 2);
    for (std::size_t i = 0; i < 2; ++i) {
      CHECK(static_cast<double>(found[t][i].key) == expected[t][i][0]);
      CHECK(found[t][i].weight == expected[t][i][1]);
    }
  }
  CHECK(kit::alignments(weights, maps, 9)[2].size() == 2);  // of the others one got nothing, one is masked
  maps.masked = {};
  CHECK(kit::alignments(weights, maps, 9)[2].size() == 3);

  Array broken = weights;
  broken.mutable_data()[3] = std::numeric_limits<Real>::quiet_NaN();
  CHECK_REFUSED(ValueError, kit::alignments(broken, maps, 1), "alignments", "a weight is not finite");
  maps.masked = padding;
  CHECK(kit::alignments(broken, maps, 1)[0][0].key == 0);  // it is masked
  CHECK_REFUSED(ValueError, kit::alignments(weights, maps, 0), "alignments", "count must be at least 1, got 0");
  CHECK_REFUSED(ShapeError, kit::alignments(Array({2, 3, 4}, 1), maps, 1), "alignments", "[2, 3, 4] for 3 x 4 labels");
  CHECK_THROWS_AS(kit::alignments(Array({2, 2, 4, 3}, 1), maps, 1), ShapeError);
  CHECK_THROWS_AS(kit::alignments(Array(Shape{0, 2, 3, 4}), maps, 1), ShapeError);
  maps.masked.pop_back();
  CHECK_REFUSED(ShapeError, kit::alignments(weights, maps, 1), "alignments", "a mask of 11 entries for 3 x 4 labels");
}

TEST_CASE("a drawing of alignments has the keys that any query may look at") {
  const std::string svg = kit::alignment_svg(
      Array({1, 1, 2, 3}, {1, 0, 0, 0.5, 0.5, 0}),
      {.queries = {"q", "r"}, .keys = {"a", "b", "c"}, .masked = {false, true, true, false, false, true}});
  check_svg(svg, 1, {">a</text>", ">b</text>"});
  check_svg(svg, 0, {">c</text>"});
}

TEST_CASE("tokens of white space are seen in alignments") {
  const kit::HeatMaps maps = kit::cross_maps({"a", " "}, {" b", "."});
  const Array weights({1, 1, 2, 2}, {1, 0, 0.75, 0.25});
  CHECK(count_of("␣b 0.75", kit::alignment_text(weights, maps)) == 1);
  check_svg(kit::alignment_svg(weights, maps), 1, {">␣</text>", "<title>␣ → ␣b  0.750</title>"});
}

TEST_CASE("hostile tokens leave a list its lines") {
  kit::HeatMaps maps = kit::decoder_maps(hostile, {hostile, hostile});
  maps.query_caption = hostile;
  const std::string lines = kit::alignment_text(Array({1, 1, 2, 2}, {1, 0, 0.5, 0.5}), maps);
  CHECK(count_of("\n", lines) == 3);
  CHECK(lines.find('\0') == lines.npos);
  CHECK(lines.find('\x1b') == lines.npos);
}

// Two heads of width 2 that attend to "a", or to "<b>" and "c".
kit::WordReading read_words(std::vector<std::string> words, std::vector<Real> weights) {
  const std::int64_t S = std::ssize(words);
  const Array each({2, S, 2}, Real(0.5));
  return {std::move(words), Array({2, 2}, {1, -2, 3, 4}), each, each, Array({2, S}, weights), "c"};
}

TEST_CASE("one word and its heads: lines are as wide as weights, and the picture is complete without motion") {
  const testing::CommaLocale commas;
  kit::WordAttention a{.title = "What it attends to",
                       .word = 1,
                       .growing = {read_words({"a", "<b>"}, {1, 0, 0.5, 0.5}), read_words({"a", "<b>", "c"}, {0.75, 0, 0.25, 0, 0.5, 0.5})},
                       .other = read_words({"a", "<b>", "d"}, {0, 0, 1, 0, 0, 1})};
  const std::string svg = kit::word_attention_svg(a);
  check_svg(svg, 1,
            {"stroke-width=\"11.25\" stroke-opacity=\"0.85\" class=\"stroke0072b23d9be0\"><title>head 1: &lt;b&gt; → a 0.750</title>",
             "<title>head 2: &lt;b&gt; → d 1.000</title>", "(prefers-reduced-motion:no-preference)", "class=\"passes\" opacity=\"0\""});
  check_labels(svg, 1, {"What it attends to", "head 1 → a", "head 2 → &lt;b&gt;", "-2.0", "4.0"});
  check_labels(svg, 2, {"“&lt;b&gt;” = c"});
  check_labels(svg, 4, {"a", "&lt;b&gt;"});  // in the sentence, and in each row in which they are read
  check_labels(svg, 2, {"c", "d"});
  check_svg(svg, 7, {"<path"});  // 1 that passes, 2 and 2, 1 and 1
  CHECK(kit::word_attention_svg(a) == svg);

  CHECK_REFUSED(ValueError, kit::word_attention_svg({}), "word_attention_svg", "no words");
  a.head = 2;
  CHECK_REFUSED(ValueError, kit::word_attention_svg(a), "word_attention_svg", "no head 2 among 2");
  a.head = 1, a.word = 2;
  CHECK_REFUSED(ValueError, kit::word_attention_svg(a), "word_attention_svg", "no word 2 among 2");
  a.word = 1, a.other.words.push_back("e");
  CHECK_REFUSED(ShapeError, kit::word_attention_svg(a), "word_attention_svg", "4 words with q [2, 2]", "weights [2, 3]");
}

}  // namespace
}  // namespace xgrad::testing
