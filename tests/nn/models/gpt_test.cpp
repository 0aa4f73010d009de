// GPT, Llama and BERT: shapes, steps against the whole, generation. The reference implementation's: pretrained_test.
#include "../support.h"

#include <thread>

#include <xgrad/core/runtime/memory.h>
#include <xgrad/xgrad.h>

namespace xgrad::testing {
namespace {

using namespace nn;

const GptOptions small_gpt{.vocabulary = 11, .context = 8, .dim = 8, .heads = 2, .layers = 2};
const LlamaOptions small_llama{
    .vocabulary = 11, .context = 8, .dim = 8, .heads = 4, .kv_heads = 2, .layers = 2, .ffn = 12};
const BertOptions small_bert{
    .vocabulary = 11, .context = 8, .dim = 8, .heads = 2, .layers = 2, .ffn = 12, .dropout = 0};
const Index ids({2, 6}, {1, 2, 3, 4, 5, 6, 10, 9, 0, 7, 0, 8});

// Weights so large that every position matters.
template <class Model>
const Model& spread(const Model& model) {
  std::uint64_t seed = 0;
  for (const Tensor& parameter : model.parameters()) {
    parameter.assign((Tensor(normal(parameter.shape(), ++seed)) * 0.5).value());
  }
  return model;
}

// Requirements of both language models.
void check_language_model(const LanguageModel& model) {
  const Tensor all = model(ids);
  CHECK(all.shape() == Shape{2, 6, 11});
  {
    Index changed = ids;
    changed[{_, slice(4, 6)}] = 3;
    check_close(model(changed).value()[{_, slice(0, 4)}], all.value()[{_, slice(0, 4)}]);
  }
  const NoGrad off;
  for (const std::int64_t first : {1, 3, 6}) {
    LanguageState state = model.begin(2);
    check_close(model.next(ids[{_, slice(0, first)}], state).value(), all.value()[{_, first - 1}]);
    for (std::int64_t t = first; t < 6; ++t) {
      check_close(model.next(ids[{_, slice(t, t + 1)}], state).value(), all.value()[{_, t}]);
    }
    CHECK(state.length() == 6);
    LanguageState other = state;  // a copy goes on by itself
    model.next(Index({2, 1}, {0, 0}), other);
    state.select(Index({3}, {1, 1, 0}));
    CHECK(state.batch == 3);
    const Index more({3, 1}, {4, 5, 6});
    const Index whole = concat(std::vector{index_select(ids, 0, Index({3}, {1, 1, 0})), more}, 1);
    check_close(model.next(more, state).value(), model(whole).value()[{_, 6}]);
  }
  CHECK_REFUSED(ShapeError, model(Index({3}, 0)), "language_model", "needs ids (B, T), got [3]");
  CHECK_REFUSED(ValueError, model(Index({1, 9}, 0)), "language_model", "9 positions from 0 on, the context has 8");
  CHECK_THROWS_AS(model(Index({1, 2}, 11)), ValueError);
  LanguageState state = model.begin(2);
  model.next(ids, state);
  CHECK_REFUSED(ShapeError, model.next(Index({1, 1}, 0), state), "language_model",
                "ids [1, 1] with the state of 2 texts");
  CHECK_REFUSED(ShapeError, model.next(Index({2, 0}, 0), state), "language_model",
                "no token to go on from: ids [2, 0]");
  CHECK_REFUSED(ValueError, model.next(Index({2, 3}, 0), state), "language_model", "3 positions", "6 on", "8");
  CHECK_THROWS_AS(model.next(Index({2, 1}, 11), state), ValueError);
  CHECK_REFUSED(ValueError, model.begin(-1), "language_model", "a batch of -1");
  CHECK(state.length() == 6);
  CHECK(state.blocks[0].length() == 6);
}

TEST_CASE("GPT sees what came before, at once and step by step, and refuses what does not fit") {
  const Gpt model{root, small_gpt};
  check_language_model(spread(model));
  CHECK_REFUSED(ValueError, Gpt(root, {.dim = 10, .heads = 4}), "attention", "does not divide");
  CHECK_REFUSED(ValueError, Gpt(root, {.vocabulary = 0}), "Embedding", "count 0 is not positive");
}

TEST_CASE("GPT-2 and Llama have as many parameters as the published ones") {
  // V C + T C + N (12 C^2 + 13 C) + 2 C, and V C + N (2 C^2 + 2 C (kv d) + 3 C F + 2 C) + C, at a thousandth of the
  // width.
  CHECK(Gpt(root, small_gpt).num_parameters() == 11 * 8 + 8 * 8 + 2 * (12 * 64 + 13 * 8) + 2 * 8);
  GptOptions unbiased = small_gpt;
  unbiased.bias = false;
  CHECK(Gpt(root, unbiased).num_parameters() == 11 * 8 + 8 * 8 + 2 * (12 * 64 + 2 * 8) + 8);
  CHECK(Llama(root, small_llama).num_parameters() == 2 * 11 * 8 + 2 * (2 * 64 + 2 * 8 * 4 + 3 * 8 * 12 + 2 * 8) + 8);
}

TEST_CASE("Llama sees what came before, at once and step by step, and refuses what does not fit") {
  for (const Head head : {Head::own, Head::tied}) {
    LlamaOptions options = small_llama;
    options.head = head;
    const Llama model{root, options};
    check_language_model(spread(model));
  }
  CHECK_REFUSED(ValueError, Llama(root, {.vocabulary = 3, .context = 0, .dim = 4, .heads = 2, .ffn = 2}), "Llama",
                "context 0 is not positive");
}

TEST_CASE("A Llama with a window sees so many positions in each block, at once and step by step") {
  LlamaOptions options = small_llama;
  options.window = 3;
  options.qkv_bias = true;
  options.rope_scaling = RotaryScaling{.factor = 4, .context = 16};
  const Llama model{root, options};
  check_language_model(spread(model));
  // Two blocks see 2 (3 - 1) positions back.
  const Array before = model(ids).value();
  Index changed = ids;
  changed[{_, 0}] = 8;
  const Array after = model(changed).value();
  check_close(after[{_, slice(5, 6)}], before[{_, slice(5, 6)}]);
  CHECK(difference(after[{_, slice(4, 5)}], before[{_, slice(4, 5)}]) > 1e-6);
  options.window = 0;
  CHECK_REFUSED(ValueError, Llama(root, options), "LlamaBlock", "window 0 is not positive");
}

TEST_CASE("GPT's first weights are GPT-2's") {
  manual_seed(3);
  const Gpt model{root, {.vocabulary = 500, .context = 50, .dim = 64, .heads = 4, .layers = 8}};
  CHECK(deviation(model.embedding.weight) == doctest::Approx(0.02).epsilon(0.02).scale(0));
  CHECK(deviation(model.positions.weight) == doctest::Approx(0.02).epsilon(0.05).scale(0));
  CHECK(deviation(model.blocks[7].attn.qkv->weight) == doctest::Approx(0.02).epsilon(0.05).scale(0));
  CHECK(deviation(model.blocks[0].attn.o.weight) == doctest::Approx(0.005).epsilon(0.05).scale(0));
  CHECK(deviation(model.blocks[7].ffn.fc2.weight) == doctest::Approx(0.005).epsilon(0.05).scale(0));
  CHECK(deviation(model.blocks[0].ffn.fc1.bias) == 0);
}

TEST_CASE("Threads that run one model get the losses, gradients and texts of one thread") {
  const Gpt gpt{root, small_gpt};
  const Llama llama{root, small_llama};
  const Index next({2, 6}, {2, 3, 4, 5, 6, 7, 9, 0, 7, 0, 8, 1});
  for (const LanguageModel* model : {static_cast<const LanguageModel*>(&gpt), static_cast<const LanguageModel*>(&llama)}) {
    spread(*model);
    const Eval eval(*model);
    struct Found {
      Tensors numbers;
      Index text;
    };
    const auto run = [&] {
      const Tensor loss = cross_entropy((*model)(ids), next);
      Found found{grad(loss, model->parameters()), {}};
      found.numbers.push_back(loss);
      LanguageStepper text = model->start(ids[{_, slice(0, 3)}]);
      found.text = greedy(text, {.max_length = 9}).tokens;
      return found;
    };
    const Found alone = run();
    std::vector<Found> all(4);
    std::vector<std::thread> threads;
    for (Found& found : all) {
      threads.emplace_back([&] {
        for (int round = 0; round < 10; ++round) found = run();
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const Found& found : all) {
      CHECK(equal(found.text, alone.text));
      for (std::size_t i = 0; i < alone.numbers.size(); ++i) {
        CHECK(equal(found.numbers[i].value(), alone.numbers[i].value()));
      }
    }
  }
}

TEST_CASE("A text goes on behind its prompt, and where the context is full from the newer half of it") {
  const Gpt model{root, small_gpt};
  spread(model);
  const Eval eval(model);
  const Index prompt = ids[{_, slice(0, 3)}];
  LanguageStepper text = model.start(prompt);
  const Decoded written = greedy(text, {.bos = 7, .max_length = 12});
  Index all = prompt;
  std::int64_t first = 0;  // of the positions in the context
  for (std::int64_t t = 0; t < 12; ++t) {
    if (all.dim(1) - first > 8) first = all.dim(1) - 5;  // four old ones and the newest
    const Array logits = model(slice(all, {_, slice(first, all.dim(1))})).value()[{_, -1}];
    const Index best = argmax(logits, -1).reshaped({2, 1});
    CHECK(equal(best, written.tokens[{_, slice(t, t + 1)}]));
    all = concat(std::vector{all, best}, 1);
  }
  const SamplingOptions options{.max_length = 5, .top_k = 1, .seed = 5};
  CHECK(equal(model.generate(prompt, options).tokens, written.tokens[{_, slice(0, 5)}]));
  LanguageStepper beam = model.start(prompt);
  CHECK(beam_search(beam, {.max_length = 10, .num_beams = 3, .num_best = 3})[1].size() == 3);
  CHECK_REFUSED(ShapeError, model.start(Index({3}, 0)), "language_model",
                "needs a prompt (B, T), got [3]; is the batch axis missing? [1, 3] would fit");
  CHECK_THROWS_AS(model.start(Index({1, 0}, 0)), ShapeError);
}

TEST_CASE("Of a prompt that is longer than the context the end is read") {
  const Gpt model{root, small_gpt};
  spread(model);
  const Index prompt = concat(std::vector{ids, ids}, 1);  // (2, 12), the context has 8
  const Index end = prompt[{_, slice(4, 12)}];
  LanguageStepper text = model.start(prompt), of_end = model.start(end);
  check_close(text.step(Index({2}, 0)).value(), model(end).value()[{_, -1}]);
  CHECK(text.before(1).size() == 12);  // a repetition penalty is for all of it
  of_end.step(Index({2}, 0));
  const Index next({2}, {3, 4});
  check_close(text.step(next).value(), of_end.step(next).value());
  const SamplingOptions options{.max_length = 7, .seed = 5};
  CHECK(equal(model.generate(prompt, options).tokens, model.generate(end, options).tokens));
  for (std::int64_t n = 1, first = 0; n <= 12; ++n) {  // whole while it fits, then from the newer half of the context
    CAPTURE(n);
    if (n - first > 8) first = n - 5;
    LanguageStepper of_n = model.start(prompt[{_, slice(0, n)}]);
    check_close(of_n.step(Index({2}, 0)).value(), model(prompt[{_, slice(first, n)}]).value()[{_, -1}]);
  }
  // The shorter of two prompts may be too long as well.
  LanguageStepper unequal = model.start(prompt, Index({2}, {10, 12}));
  check_close(unequal.step(Index({2}, 0)).value(), model(prompt[{_, slice(4, 10)}]).value()[{_, -1}]);
  CHECK(unequal.given(1) == prompt.at({1, 10}));
}

TEST_CASE("Prompts shorter and longer than the context go on as each by itself, and as texts that the model wrote") {
  for (const std::int64_t context : {1, 7, 8}) {
    CAPTURE(context);
    GptOptions options = small_gpt;
    options.context = context;
    const Gpt model{root, options};
    spread(model);
    const Index prompt({2, 12}, {1, 2, 3, 4, 5, 6, 7, 10, 0, 3, 2, 9, 10, 9, 0, 7, 0, 8, 2, 5, 5, 1, 4, 6});
    const Index three = index_select(prompt, 0, Index({4}, {0, 1, 0, 1})), lengths({4}, {3, 11, 10, 12});
    LanguageStepper texts = model.start(three, lengths);
    const Decoded together = greedy(texts, {.max_length = 12});
    for (std::int64_t b = 0; b < 4; ++b) {
      CAPTURE(b);
      const Slice row = slice(b, b + 1);
      const Index own = three[{row, slice(0, lengths.at({b}))}], written = together.tokens[{row}];
      LanguageStepper alone = model.start(own);
      const Decoded expected = greedy(alone, {.max_length = 12});
      CHECK(equal(written, expected.tokens));
      CHECK(together.scores.at({b}) == doctest::Approx(expected.scores.item()));
      LanguageStepper on = model.start(concat(std::vector{own, written[{_, slice(0, 5)}]}, 1));
      CHECK(equal(greedy(on, {.max_length = 7}).tokens, written[{_, slice(5, 12)}]));
    }
  }
}

TEST_CASE("Prompts of unequal length go on as each by itself") {
  const Llama model{root,
                    {.vocabulary = 11, .context = 16, .dim = 8, .heads = 4, .kv_heads = 2, .layers = 2, .ffn = 12}};
  spread(model);
  const Index prompt({3, 5}, {1, 2, 3, 10, 10, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10}), lengths({3}, {3, 5, 1});
  LanguageStepper texts = model.start(prompt, lengths);
  const Decoded together = greedy(texts, {.eos = 0, .max_length = 6, .repetition_penalty = 1.3});
  for (std::int64_t b = 0; b < 3; ++b) {
    CAPTURE(b);
    LanguageStepper text = model.start(prompt[{slice(b, b + 1), slice(0, lengths.at({b}))}]);
    const Decoded alone = greedy(text, {.eos = 0, .max_length = 6, .repetition_penalty = 1.3});
    const std::int64_t L = alone.tokens.dim(1);
    CHECK(equal(together.tokens[{slice(b, b + 1), slice(0, L)}], alone.tokens));
    CHECK(together.lengths.at({b}) == alone.lengths.item());
    CHECK(together.scores.at({b}) == doctest::Approx(alone.scores.item()));
  }
  LanguageStepper beams = model.start(prompt, lengths);
  CHECK_REFUSED(ValueError, beam_search(beams, {}), "beam_search",
                "prompts of unequal length; search after each by itself");
  LanguageStepper chosen = model.start(prompt, lengths);
  chosen.select(Index({2}, {1, 1}));
  CHECK(chosen.before(1) == std::vector<std::int64_t>{4, 5, 6, 7, 8});
  CHECK(chosen.given(0) == 5);
  CHECK_REFUSED(ShapeError, model.start(prompt, Index({2}, 1)), "language_model", "shape [2]", "prompt [3, 5]");
  CHECK_REFUSED(ValueError, model.start(prompt, Index({3}, 6)), "language_model", "length 6 is not in [1, 5]");
  CHECK_REFUSED(ValueError, model.start(prompt, Index({3}, 0)), "language_model", "length 0 is not in [1, 5]");
}

TEST_CASE("Selecting texts before the first step or after it is starting with those prompts") {
  const Gpt model{root, small_gpt};
  spread(model);
  const Eval eval(model);
  const Index prompt = ids[{_, slice(0, 3)}], rows({3}, {1, 1, 0}), next({3}, {1, 2, 3});
  for (const bool before : {true, false}) {
    CAPTURE(before);
    LanguageStepper text = model.start(prompt), selected = model.start(index_select(prompt, 0, rows));
    const Array first = selected.step(Index({3}, 0)).value();
    if (!before) text.step(Index({2}, 0));
    text.select(rows);
    if (before) check_close(text.step(Index({3}, 0)).value(), first);
    check_close(text.step(next).value(), selected.step(next).value());
    CHECK(text.before(2) == selected.before(2));
  }
}

TEST_CASE("A token in the middle of a text costs no memory but its own") {
  const Gpt model{root, {.vocabulary = 5, .context = 400, .dim = 8, .heads = 2, .layers = 2}};
  const NoGrad off;
  LanguageState state = model.begin(1);
  const Index token({1, 1}, 1);
  for (int i = 0; i < 3; ++i) model.next(token, state);
  const std::int64_t before = pool_stats().bytes_in_use;
  for (int i = 0; i < 300; ++i) model.next(token, state);
  CHECK(pool_stats().bytes_in_use == before);
}

TEST_CASE("BERT refuses what does not fit") {
  const Bert model{root, small_bert};
  CHECK(model.encode(ids).shape() == Shape{2, 6, 8});
  CHECK_REFUSED(ShapeError, model(Index({3}, 0)), "bert", "needs ids (B, T), got [3]");
  CHECK_REFUSED(ShapeError, model(ids, {.segments = Index({2, 5}, 0)}), "bert", "segments [2, 5] for ids [2, 6]");
  CHECK_THROWS_AS(model(ids, {.segments = Index({2, 6}, 2)}), ValueError);
  CHECK_THROWS_AS(model(ids, {.lengths = Index({2}, 7)}), ValueError);
  CHECK_THROWS_AS(model(Index({1, 9}, 0)), ValueError);
}

}  // namespace
}  // namespace xgrad::testing
