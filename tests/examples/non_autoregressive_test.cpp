// The model that writes all words at once.
#include <doctest/doctest.h>

#include <non_autoregressive/model.h>
#include <xgrad/kit/text/corpus.h>

namespace xgrad::testing {
namespace {

using non_autoregressive::ParallelTranslator;

const kit::CorpusOptions dozen{.file = XGRAD_EXAMPLES_DIR "/translate/data/en-fr.tsv", .pairs = 12};
const nn::TransformerOptions small{.dim = 32, .ffn = 64, .heads = 4, .layers = 2, .dropout = 0};

TEST_CASE("every position sees every other") {
  manual_seed(1);
  const kit::Corpus corpus(dozen);
  const ParallelTranslator model{nn::root, corpus, 10, small};
  const kit::CorpusBatch batch = corpus.batch(index({0, 5}));
  nn::AttentionRecorder recorder;
  CHECK(model(batch.source, batch.source_lengths).shape() == Shape{2, 10, corpus.target_vocab().size()});
  for (const Real weight : recorder.last("decoder.blocks.1.self_attn")) CHECK(weight > 0);  // (B, H, T, T)
}

TEST_CASE("it learns a dozen sentences by heart") {
  manual_seed(2);
  const kit::Corpus corpus(dozen);
  const ParallelTranslator model{nn::root, corpus, 10, small};
  model.apply<nn::Linear>([](const nn::Linear& map) { nn::init::reset(map.weight, nn::init::xavier_uniform()); });
  const kit::CorpusBatch batch = corpus.batch(arange(12));
  const Tensors parameters = model.parameters();
  const auto loss = [&] {
    return cross_entropy(model(batch.source, batch.source_lengths), batch.target, {.ignore_index = corpus.pad()});
  };
  optim::Adam adam{parameters, {.lr = 0.003}};
  const Real before = loss().item();
  for (int step = 0; step < 150; ++step) adam.step(grad(loss(), parameters));
  CHECK(loss().item() < before / 5);

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

}  // namespace
}  // namespace xgrad::testing
