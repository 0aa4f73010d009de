// The model that writes all words at once: every position sees the others, it ends where it should, and it learns.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include <non_autoregressive/model.h>
#include <xgrad/kit/text/corpus.h>

namespace xgrad::testing {
namespace {

using non_autoregressive::Config;
using non_autoregressive::Ending;
using non_autoregressive::ParallelTranslator;

Config small() {
  Config config;
  config.corpus.pairs = 12;
  config.dropout = 0;
  return config;
}

TEST_CASE("up to the length every position sees every other, and none behind it") {
  manual_seed(1);
  const Config config = small();
  const kit::Corpus corpus(config.corpus);
  const ParallelTranslator model(config, corpus, Ending::predicted);
  const kit::CorpusBatch batch = corpus.batch(index({0, 5}));
  nn::AttentionRecorder recorder;
  const Tensor memory = model.read(batch.source, batch.source_lengths);
  CHECK(model.write(memory, batch.source_lengths, Index({2}, {4, 10})).shape() ==
        Shape{2, 10, corpus.target_vocab().size()});
  const Array weights = recorder.last("decoder.blocks.1.self_attn");  // (B, H, T, T)
  for (std::int64_t t = 0; t < 10; ++t) {
    for (std::int64_t s = 0; s < 10; ++s) {
      CHECK((weights.at({0, 0, t, s}) > 0) == (s < 4));
      CHECK(weights.at({1, 0, t, s}) > 0);
    }
  }
}

TEST_CASE("it learns a dozen sentences by heart, with either ending") {
  for (const Ending ending : {Ending::predicted, Ending::cut}) {
    manual_seed(2);
    const Config config = small();
    const kit::Corpus corpus(config.corpus);
    const ParallelTranslator model(config, corpus, ending);
    model.apply<nn::Linear>([](const nn::Linear& map) { nn::init::reset(map.weight, nn::init::xavier_uniform()); });
    const kit::CorpusBatch batch = corpus.batch(arange(12));
    const Tensors parameters = model.parameters();
    optim::Adam adam{parameters, {.lr = 0.003}};
    const Real before = model.loss(batch, corpus.pad()).item();
    for (int step = 0; step < 150; ++step) adam.step(grad(model.loss(batch, corpus.pad()), parameters));
    CHECK(model.loss(batch, corpus.pad()).item() < before / 5);

    const Index written = model.translate(batch.source, batch.source_lengths);
    CHECK(written.shape() == Shape{12, 10});
    // A sentence with several translations in the data gets one of them, or a mixture; the others come out right.
    int right = 0;
    for (std::int64_t i = 0; i < 12; ++i) {
      const std::size_t at = static_cast<std::size_t>(i) * 10;
      right += corpus.words({written.data() + at, 10}) == corpus.words({batch.target.data() + at, 10});
    }
    CHECK(right >= 6);
  }
}

}  // namespace
}  // namespace xgrad::testing
