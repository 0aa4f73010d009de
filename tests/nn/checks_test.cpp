// Leaks of sequence models: those of the library have none, and every kind of leak that is built in is found and named.
#include "support/check.h"

#include <cmath>
#include <sstream>

#include <xgrad/xgrad.h>

namespace xgrad::testing {
namespace {

using namespace nn;

const Index ids({2, 5}, {1, 2, 3, 4, 5, 6, 10, 9, 0, 7}), lengths({2}, {5, 2});

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// A function of x (B, T, C) between two layers that look at each position by itself.
struct Model : Module {
  std::function<Tensor(const Tensor& x)> mix;
  Embedding embedding{at("embedding"), 11, 4};
  Linear in{at("in"), 4, 4};
  struct Mixer : Module {
    const Model& whole;
    Mixer(At here, const Model& model) : Module(here), whole(model) {}
    Tensor operator()(const Tensor& x) const {
      const auto here = enter(x);
      return here(whole.mix(x));
    }
  } mixer{at("mixer"), *this};
  Linear out{at("out"), 4, 3};

  explicit Model(std::function<Tensor(const Tensor&)> mixing) : mix(std::move(mixing)) {}
  Tensor operator()(const Tensor& x) const { return out(mixer(in(x))); }
  Tensor operator()(const Index& ids) const { return (*this)(embedding(ids)); }
};
Tensor same_position(const Tensor& x) { return tanh(x); }
// Position t becomes the mean of positions t and t + 1; the last stays.
Tensor with_next(const Tensor& x) {
  return concat({(x[{_, slice(none, -1)}] + x[{_, slice(1, none)}]) / 2, x[{_, slice(-1, none)}]}, 1);
}

TEST_CASE("the library's causal models see no later position") {
  const Gpt gpt{root, {.vocabulary = 11, .context = 8, .dim = 8, .heads = 2, .layers = 2, .dropout = 0.5}};
  const CausalityReport report = check_causality(gpt, ids);
  CHECK(report.ok());
  CHECK(report.positions == 5);
  CHECK(to_string(report) == "check_causality: no output depends on a later input (5 positions)\n");
  CHECK(str("1 of 2: ", report) == "1 of 2: " + to_string(report));
  CHECK(gpt.training());  // dropout was off for the check alone
  const Llama llama{root,
                    {.vocabulary = 11, .context = 8, .dim = 8, .heads = 4, .kv_heads = 2, .layers = 2, .ffn = 12}};
  CHECK(check_causality(llama, ids).ok());

  const EncoderDecoder model{root, 11, 11, {.dim = 8, .ffn = 8, .heads = 2, .layers = 1}};
  CHECK(check_causality([&](const Index& target) { return model(ids, lengths, target); },
                        Index({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}), {.model = &model})
            .ok());
  const Seq2Seq recurrent{root, 11, 11, {.embed = 4, .hidden = 4, .layers = 1}};
  CHECK(check_causality([&](const Index& target) { return recurrent(ids, lengths, target); }, ids).ok());
  const MultiHeadAttention attn{root, 8, 2};
  CHECK(check_causality([&](const Tensor& x) { return attn(x, causal); }, normal({2, 5, 8})).ok());
  CHECK(check_causality(Model(same_position), ids).ok());
  CHECK(check_causality(Model(same_position), normal({2, 5, 4})).ok());
}

TEST_CASE("a model that looks ahead is found, with the first pair of positions and the module") {
  const Bert bert{root, {.vocabulary = 11, .context = 8, .dim = 8, .heads = 2, .layers = 2, .ffn = 12}};
  const CausalityReport report = check_causality(bert, ids);
  CHECK(!report.ok());
  REQUIRE(report.leak);
  CHECK(report.leak->t == 0);
  CHECK(report.leak->s == 1);
  CHECK(report.leak->change > 0);
  CHECK(report.leak->module == "blocks.0.attn (MultiHeadAttention 8, 2 heads)");

  const Model next(with_next);
  const CausalityReport shifted = check_causality(next, ids);
  CHECK(first_line(to_string(shifted)).starts_with("check_causality: output 0 depends on input 1: it moves by "));
  CHECK(to_string(shifted).ends_with(" with it; first in mixer (Mixer)\n"));
  CHECK(check_causality(next, normal({2, 5, 4})).leak->module == "mixer (Mixer)");
  CHECK(check_causality(next, normal({2, 2, 4})).leak->s == 1);  // two positions are enough
  // Only position 3 sees one that comes later.
  const Model late([](const Tensor& x) {
    Array mask(Shape{5, 1}, Real(0));
    mask.mutable_data()[3] = 1;
    return x + Tensor(mask) * x[{_, slice(4, 5)}];
  });
  const CausalityReport one = check_causality(late, ids);
  REQUIRE(one.leak);
  CHECK(one.leak->t == 3);
  CHECK(one.leak->s == 4);
  const CausalityReport unknown = check_causality([&](const Index& x) { return late(x); }, ids);
  REQUIRE(unknown.leak);
  CHECK(unknown.leak->t == 3);
  CHECK(unknown.leak->module.empty());
}

TEST_CASE("an output that is not a number is a leak, and a function of the first position alone is none") {
  const auto undefined_for_0 = [](const Index& x) {
    const Tensor numbers = to_real(x), next = concat({numbers[{_, slice(1, none)}], numbers[{_, slice(-1, none)}]}, 1);
    return next / next;
  };
  const CausalityReport report = check_causality(undefined_for_0, ids);
  REQUIRE(report.leak);
  CHECK(report.leak->t == 0);
  CHECK(std::isinf(report.leak->change));
  const auto of_first = [](const Index& x) {
    const Index first = x[{_, slice(0, 1)}];
    return one_hot(broadcast_to(first, x.shape()), 11);
  };
  CHECK(check_causality(of_first, ids).ok());
}

TEST_CASE("a function that does not look at its input is not called causal") {
  const CausalityReport report = check_causality([](const Index& x) { return zeros({x.dim(0), x.dim(1), 3}); }, ids);
  CHECK(!report.ok());
  std::ostringstream out;
  out << report;
  CHECK(out.str() == "check_causality: no output depends on any input: does f use what it is given?\n");
}

TEST_CASE("check_causality refuses what it cannot check") {
  const Model model(same_position);
  CHECK_REFUSED(ValueError, check_causality(std::function<Tensor(const Index&)>(), ids), "check_causality",
                "the function is empty");
  CHECK_REFUSED(ValueError, check_causality(model, Index({0, 3}, 1)), "check_causality", "x [0, 3] is empty");
  CHECK_REFUSED(ValueError, check_causality(model, Index({2, 1}, {1, 2})), "check_causality", "needs at", "least 2",
                "[2, 1]");
  CHECK_REFUSED(ValueError, check_causality(model, Index({2, 3}, 7)), "check_causality", "all ids", "are 7");
  CHECK_REFUSED(ValueError, check_causality([&](const Index& x) { return xgrad::dropout(model(x), 0.5); }, ids),
                "check_causality", "nn::Eval switches dropout off");
  CHECK_REFUSED(ShapeError, check_causality(model, Index({3}, {1, 2, 3})), "check_causality",
                "needs ids (B, T), got [3]; is the batch axis missing? [1, 3] would fit");
  CHECK_REFUSED(ShapeError, check_causality(model, zeros({3})), "check_causality", "needs x (B, T, ...), got [3]");
  CHECK_REFUSED(ShapeError, check_causality([&](const Index& x) { return sum(model(x), 1); }, ids), "check_causality",
                "for an input [2, 5] needs an output (2, 5, ...), got [2, 3]");
  const auto as_wide_as_its_first = [](const Index& x) { return zeros({2, 5, x.at({0, 0})}); };
  CHECK_REFUSED(ShapeError, check_causality(as_wide_as_its_first, ids), "check_causality",
                "the output is [2, 5, 2] and was [2, 5, 1] for other inputs");
}

TEST_CASE("what counts of the library's models does not depend on padding") {
  const Bert bert{root, {.vocabulary = 11, .context = 8, .dim = 8, .heads = 2, .layers = 2, .ffn = 12}};
  const auto with_lengths = [&](const Index& x, const Index& n) { return bert(x, {.lengths = n}); };
  const PaddingInvarianceReport report = check_padding_invariance(with_lengths, ids, lengths, {.model = &bert});
  CHECK(report.ok());
  CHECK(to_string(report) == "check_padding_invariance: nothing that counts depends on the padding\n");
  CHECK(check_padding_invariance(with_lengths, ids, Index({2}, {4, 2}), {.model = &bert}).ok());

  const EncoderDecoder model{root, 11, 11, {.dim = 8, .ffn = 8, .heads = 2, .layers = 1}};
  const Index target({2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(check_padding_invariance([&](const Index& x, const Index& n) { return model(x, n, target); }, ids, lengths,
                                 {.model = &model, .output = PaddedOutput::everything})
            .ok());
  for (const bool reverse : {false, true}) {
    const Seq2Seq recurrent{root, 11, 11, {.embed = 4, .hidden = 4, .layers = 1, .reverse_source = reverse}};
    CHECK(check_padding_invariance([&](const Index& x, const Index& n) { return recurrent(x, n, target); }, ids, lengths,
                                   {.output = PaddedOutput::everything})
              .ok());
  }
  const LSTM lstm{root, 3, 4, {.bidirectional = true}};
  CHECK(check_padding_invariance([&](const Tensor& x, const Index& n) { return lstm(x, {.lengths = n}).output; },
                                 normal({2, 5, 3}), lengths)
            .ok());
}

TEST_CASE("a model that reads its padding is found, with the place and the module") {
  const Bert bert{root, {.vocabulary = 11, .context = 8, .dim = 8, .heads = 2, .layers = 2, .ffn = 12}};
  const auto unmasked = [&](const Index& x, const Index&) { return bert(x); };
  const PaddingInvarianceReport report = check_padding_invariance(unmasked, ids, lengths, {.model = &bert});
  CHECK(!report.ok());
  REQUIRE(report.leak);
  CHECK(report.leak->output == Shape{1, 0});
  CHECK(report.leak->module == "blocks.0.attn (MultiHeadAttention 8, 2 heads)");
  const std::string text = to_string(report);
  CHECK(text.starts_with("check_padding_invariance: output [1, 0] moves by "));
  CHECK(text.ends_with(" with the padding; first in blocks.0.attn (MultiHeadAttention 8, 2 heads)\n"));

  const auto shifted = [](const Tensor& x, const Index&) { return with_next(x); };
  const PaddingInvarianceReport last_word = check_padding_invariance(shifted, normal({2, 5, 3}), lengths);
  REQUIRE(last_word.leak);
  CHECK(last_word.leak->output == Shape{1, 1});

  const auto summary = [](const Tensor& x, const Index&) { return mean(x, 1); };
  const PaddingInvarianceReport mean_of_all =
      check_padding_invariance(summary, normal({2, 5, 3}), lengths, {.output = PaddedOutput::everything});
  REQUIRE(mean_of_all.leak);
  CHECK(mean_of_all.leak->output == Shape{1, 0});
  CHECK(mean_of_all.leak->module.empty());
  // The padding is masked, but divides all the same.
  const auto divided = [](const Tensor& x, const Index& n) {
    const Mask masked = padding_mask(n, x.dim(1)).reshaped({x.dim(0), x.dim(1), 1});
    return sum(where(masked, 0, x), 1) / static_cast<Real>(x.dim(1));
  };
  const Tensor x = normal({2, 5, 3});
  const Index shorter({2}, {3, 2});
  const PaddingInvarianceReport width =
      check_padding_invariance(divided, x, shorter, {.output = PaddedOutput::everything});
  REQUIRE(width.leak);
  CHECK(width.leak->change == doctest::Approx(max(abs(divided(x, shorter))).item() * 2 / 3));  // 1/3 for 1/5
  CHECK(width.leak->columns == 2);
  CHECK(width.leak->output == Shape{0, 0});
  CHECK(to_string(width).starts_with("check_padding_invariance: output [0, 0] moves by "));
  CHECK(to_string(width).ends_with(" without the last 2 columns, which is padding\n"));
  const PaddingInvarianceReport narrower =
      check_padding_invariance(divided, x, Index({2}, {4, 0}), {.output = PaddedOutput::everything});
  CHECK(to_string(narrower).ends_with(" without the last 1 column, which is padding\n"));
  // 1/3 for 1/5: by two thirds, and that is allowed.
  CHECK(check_padding_invariance(divided, x, shorter, {.output = PaddedOutput::everything, .tolerance = 0.7}).ok());
  CHECK(!check_padding_invariance(divided, x, shorter, {.output = PaddedOutput::everything, .tolerance = 0.6}).ok());
}

TEST_CASE("a function that ignores its input is not called clean") {
  const PaddingInvarianceReport blind = check_padding_invariance(
      [](const Index& x, const Index&) {
        return zeros({x.dim(0), x.dim(1), 1});
      },
      ids, lengths);
  CHECK(!blind.ok());
  CHECK(to_string(blind) ==
        "check_padding_invariance: what counts does not depend on the input: does f use what it is given?\n");
}

TEST_CASE("check_padding_invariance refuses what it cannot check") {
  const auto f = [](const Tensor& x, const Index&) { return x; };
  const Tensor x = normal({2, 5, 3});
  const auto said = [&](const Index& n, const PaddingInvarianceOptions& options = {}) {
    return error_of<Error>([&] { check_padding_invariance(f, x, n, options); });
  };
  CHECK_REFUSED(ValueError, check_padding_invariance(std::function<Tensor(const Tensor&, const Index&)>(), x, lengths),
                "check_padding_invariance", "the function is empty");
  CHECK(said(Index({3}, 1)) == "check_padding_invariance: lengths of shape [3] for 2 rows");
  CHECK(said(Index({2}, {1, 6})) == "check_padding_invariance: length 6 is not in [0, 5]");
  CHECK(said(Index({2}, {-1, 3})) == "check_padding_invariance: length -1 is not in [0, 5]");
  CHECK(said(lengths, {.tolerance = std::nan("")}) == "check_padding_invariance: tolerance is nan");
  CHECK(said(Index({2}, 5)) ==
        "check_padding_invariance: needs both padding and positions that count, got lengths [5, 5] of 5");
  CHECK(said(Index({2}, 0)).ends_with("got lengths [0, 0] of 5"));
  CHECK(said(lengths, {.tolerance = -1}) == "check_padding_invariance: tolerance is -1");
  CHECK_REFUSED(ShapeError,
                check_padding_invariance([](const Tensor& x, const Index&) { return sum(x, 1); }, x, lengths),
                "check_padding_invariance", "input [2, 5, 3]", "output (2, 5, ...)", "got [2, 3]",
                "give .output = PaddedOutput::everything");
}

}  // namespace
}  // namespace xgrad::testing
