// Sequence to sequence with recurrent layers: decoding, errors. What they compute: translation_fixtures_test.cpp.
#include "../support.h"

#include <xgrad/xgrad.h>

namespace xgrad::testing {
namespace {

using namespace nn;

constexpr std::array contexts{Context::initial_state, Context::every_step, Context::attention};

Seq2SeqOptions small(Context context) { return {.context = context, .embed = 3, .hidden = 4, .layers = 2}; }

const Index source({2, 4}, {1, 2, 3, 4, 4, 2, 0, 0}), lengths({2}, {4, 2}), target({2, 3}, {1, 2, 3, 1, 3, 4});

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
  Seq2SeqOptions reversing = small(Context::attention);
  reversing.reverse_source = true;
  const Seq2SeqEncoder encoder(root, 5, reversing);
  CHECK_REFUSED(ValueError, encoder(source, Index({2}, {5, 1})), "reversed_within",
                "length 5 of row 0 is not in [0, 4]");
  CHECK_REFUSED(ShapeError, encoder(source, Index({1}, {4})), "reversed_within", "ids [2, 4] with lengths [1]");
  CHECK_THROWS_AS(model(Index({2}, {1, 2}), Index({2}, {1, 1}), target), ShapeError);
}

}  // namespace
}  // namespace xgrad::testing
