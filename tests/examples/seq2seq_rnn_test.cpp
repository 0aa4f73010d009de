// Recurrent translation: what the context is worth on sentences that were never seen.
#include <doctest/doctest.h>

#include <seq2seq_rnn/contest.h>

namespace seq2seq_rnn {
namespace {

TEST_CASE("with attention, recurrent networks translate new sentences better than without") {
  const Config config;
  const kit::Corpus corpus(config.corpus);
  const auto trial = [&](std::size_t contestant) {
    manual_seed(1);
    const nn::Seq2Seq model(nn::root, corpus.source_vocab().size(), corpus.target_vocab().size(),
                            recurrent_options(config, contestant));
    return train(config, corpus, model, 1, {});
  };
  const Trial d2a = trial(0), d2b = trial(1), d3 = trial(2);
  for (const Trial* each : {&d2a, &d2b, &d3}) {
    CHECK(each->losses.front() > 3);
    CHECK(each->losses.back() < 0.2);
  }
  CHECK(d3.bleu > d2a.bleu);
  CHECK(d3.bleu > d2b.bleu);
}

}  // namespace
}  // namespace seq2seq_rnn
