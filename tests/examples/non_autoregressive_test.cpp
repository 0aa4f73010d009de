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

}  // namespace
}  // namespace xgrad::testing
