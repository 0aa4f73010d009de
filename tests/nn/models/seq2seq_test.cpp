// Sequence to sequence with recurrent layers: decoding, errors. What they compute: translation_fixtures_test.cpp.
#include "../support.h"

#include <xgrad/xgrad.h>

namespace xgrad::testing {
namespace {

using namespace nn;

constexpr std::array contexts{Context::initial_state, Context::every_step, Context::mean, Context::attention};

Seq2SeqOptions small(Context context) { return {.context = context, .embed = 3, .hidden = 4, .layers = 2}; }

const Index source({2, 4}, {1, 2, 3, 4, 4, 2, 0, 0}), lengths({2}, {4, 2}), target({2, 3}, {1, 2, 3, 1, 3, 4});

TEST_CASE("An encoder that reverses its source reads each from its last word on") {
  Seq2SeqOptions options = small(Context::attention);
  manual_seed(3);
  const Seq2SeqEncoder plain{root, 5, options};
  options.reverse_source = true;
  manual_seed(3);
  const Seq2SeqEncoder reversing{root, 5, options};
  const Index reversed({2, 4}, {4, 3, 2, 1, 2, 4, 0, 0});
  CHECK(equal(reversing(source, lengths).output.value(), plain(reversed, lengths).output.value()));
  CHECK_REFUSED(ValueError, reversing(source, Index({2}, {5, 1})), "reversed_within",
                "length 5 of row 0 is not in [0, 4]");
  CHECK_REFUSED(ShapeError, reversing(source, Index({1}, {4})), "reversed_within", "ids [2, 4] with lengths [1]");
}

TEST_CASE("Only the attention sees more of the source than the encoder's last states") {
  for (const Context context : contexts) {
    const Seq2Seq model(root, 5, 6, small(context));
    const Recurrence states = model.encoder(source, lengths);
    Seq2SeqState state{
        .h = states.h, .context = states.h[-1], .memory = states.output, .memory_mask = padding(lengths)};
    Seq2SeqState blind = state;
    blind.memory = zeros({2, 4, 4});
    Seq2SeqState without_context = state;
    without_context.context = zeros({2, 4});
    const Tensor logits = model.decoder(target, state);
    CHECK(equal(model.decoder(target, blind).value(), logits.value()) == (context != Context::attention));
    const bool joined = context == Context::every_step || context == Context::mean;
    CHECK(equal(model.decoder(target, without_context).value(), logits.value()) != joined);
  }
}

TEST_CASE("The context is the last state, or the mean of the states of the words that are there") {
  for (const Context context : {Context::every_step, Context::mean}) {
    const Seq2Seq model(root, 5, 6, small(context));
    const Recurrence states = model.encoder(source, lengths);
    const Tensor means = stack({mean(states.output[{0}], 0), mean(states.output[{1, slice(0, 2)}], 0)}, 0);
    Seq2SeqState state{.h = states.h,
                       .context = context == Context::mean ? means : states.h[-1],
                       .memory = states.output,
                       .memory_mask = padding(lengths)};
    check_close(model(source, lengths, target).value(), model.decoder(target, state).value());
  }
}

TEST_CASE("Step by step, with rows dropped and doubled, the logits are those of teacher forcing") {
  for (const Context context : contexts) {
    const Seq2Seq model(root, 5, 6, small(context));
    const Array all = model(source, lengths, target).value();  // (2, 3, 6)
    Seq2SeqStepper stepper = model.start(source, lengths);
    CHECK(stepper.batch() == 2);
    check_close(stepper.step(Index({2}, {1, 1})).value(), all[{_, 0}]);
    stepper.select(Index({3}, {1, 0, 1}));
    CHECK(stepper.batch() == 3);
    const Array second = stepper.step(Index({3}, {3, 2, 3})).value();
    check_close(second[{0}], all[{1, 1}]);
    check_close(second[{1}], all[{0, 1}]);
    check_close(second[{2}], all[{1, 1}]);
  }
}

TEST_CASE("Sequence to sequence models refuse bad settings and inputs") {
  CHECK_THROWS_AS(Seq2Seq(root, 0, 6), ValueError);
  CHECK_THROWS_AS(Seq2Seq(root, 5, 6, {.hidden = 0}), ValueError);
  CHECK_THROWS_AS(Seq2Seq(root, 5, 6, {.dropout = 2}), ValueError);
  const Seq2Seq model(root, 5, 6, small(Context::attention));
  CHECK_REFUSED(ValueError, model(source, Index({2}, {4, 0}), target), "gru", "length 0 of sequence 1 is not in [1, 4]",
                "in encoder.gru (GRU 3 -> 4, 2 layers)");
  CHECK_THROWS_AS(model(source, lengths, Index({1, 3}, {1, 2, 3})), ShapeError);
  CHECK_THROWS_AS(model(Index({2}, {1, 2}), Index({2}, {1, 1}), target), ShapeError);
}

}  // namespace
}  // namespace xgrad::testing
