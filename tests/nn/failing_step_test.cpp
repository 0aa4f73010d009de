// Steps of decoding that fail on their way: the model stays where it was, and asked again gives what it would have
// given.
#include "support/check.h"

#include <functional>
#include <memory>
#include <stdexcept>

#include <xgrad/xgrad.h>

namespace xgrad::testing {
namespace {

using namespace nn;

struct Stop : std::runtime_error {
  Stop() : std::runtime_error("stop") {}
};

using Start = std::function<std::unique_ptr<Stepper>()>;

const Index first({2}, {1, 2}), second({2}, {3, 0}), third({2}, {4, 4}), swapped({2}, {1, 0});

// Two steps and a selection, then what a third step gives.
Array third_step(Stepper& model) {
  model.step(first);
  model.select(swapped);
  model.step(second);
  return model.step(third).value();
}

// Lets every module below `part` fail once in each of the three steps, behind its work.
void check_failing_steps(const Module& part, const Start& start) {
  const NoGrad off;
  const Array expected = third_step(*start());
  std::vector<const Module*> modules;
  part.apply([&](const Module& module) { modules.push_back(&module); });
  int failures = 0;
  for (const Module* module : modules) {
    CAPTURE(module->path());
    const auto model = start();
    const auto failing = [&](const Index& tokens) {
      const auto hook = module->on_forward([](const ForwardCall&) { throw Stop(); });
      try {
        model->step(tokens);
      } catch (const Stop&) {
        ++failures;
        module->remove_hook(hook);
        return model->step(tokens).value();
      }
      module->remove_hook(hook);  // a module that takes no part in a step
      return Array();
    };
    if (failing(first).size() == 0) continue;
    model->select(swapped);
    failing(second);
    CHECK(equal(failing(third), expected));
  }
  CHECK(failures > 9);
}

const Index source({2, 3}, {1, 2, 3, 4, 2, 0}), source_lengths({2}, {3, 2});

TEST_CASE("A transformer's step that fails in any of its modules leaves its keys and values as they were") {
  for (const NormOrder order : {NormOrder::post, NormOrder::pre}) {
    const EncoderDecoder model{root, 5, 5, {.dim = 8, .ffn = 12, .heads = 2, .layers = 2, .dropout = 0, .norm = order}};
    const Eval eval(model);
    check_failing_steps(model.decoder, [&] { return std::make_unique<DecoderStepper>(model.start(source, source_lengths)); });
  }
}

TEST_CASE("A recurrent decoder's step that fails in any of its modules leaves its state as it was") {
  for (const Context context : {Context::initial_state, Context::every_step, Context::mean, Context::attention}) {
    const Seq2Seq model{root, 5, 5, {.context = context, .embed = 4, .hidden = 6}};
    const Eval eval(model);
    check_failing_steps(model.decoder, [&] { return std::make_unique<Seq2SeqStepper>(model.start(source, source_lengths)); });
  }
}

TEST_CASE("A language model's step that fails in any of its modules leaves the texts as they were") {
  const Llama model{root, {.vocabulary = 5, .context = 8, .dim = 8, .heads = 4, .kv_heads = 2, .layers = 2, .ffn = 12}};
  check_failing_steps(model, [&] {
    auto text = std::make_unique<LanguageStepper>(model.start(source));
    text->step(first);  // which takes no module
    return text;
  });
}

TEST_CASE("A token or row that does not exist is refused, and decoding goes on as if nothing had been said") {
  const NoGrad off;
  const EncoderDecoder transformer{root, 5, 5, {.dim = 8, .ffn = 12, .heads = 2, .layers = 2, .dropout = 0}};
  const Seq2Seq recurrent{root, 5, 5, {.embed = 4, .hidden = 6}};
  const Gpt language{root, {.vocabulary = 5, .context = 8, .dim = 8, .heads = 2, .layers = 2}};
  const Eval eval(transformer), too(recurrent);
  for (const Start& start :
       {Start([&] { return std::make_unique<LanguageStepper>(language.start(source)); }),
        Start([&] { return std::make_unique<DecoderStepper>(transformer.start(source, source_lengths)); }),
        Start([&] { return std::make_unique<Seq2SeqStepper>(recurrent.start(source, source_lengths)); })}) {
    const Array expected = third_step(*start());
    const auto model = start();
    model->step(first);
    CHECK_THROWS_AS(model->step(Index({2}, {0, 5})), ValueError);
    CHECK_THROWS_AS(model->step(Index({3}, {0, 1, 2})), ShapeError);
    CHECK_THROWS_AS(model->select(Index({2}, {0, 2})), ValueError);
    CHECK_THROWS_AS(model->select(Index({2}, {-3, 0})), ValueError);
    model->select(swapped);
    model->step(second);
    CHECK(equal(model->step(third).value(), expected));
  }
}

}  // namespace
}  // namespace xgrad::testing
