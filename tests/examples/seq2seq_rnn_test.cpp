// Recurrent translation: it learns. What attention is worth is on docs/topics/recurrent.md, which `tests/long figures` compares.
#include <doctest/doctest.h>

#include <seq2seq_rnn/contest.h>

namespace seq2seq_rnn {
namespace {

TEST_CASE("a recurrent network with attention learns to translate") {
  const Config config{.epochs = 10};
  const kit::Corpus corpus(config.corpus);
  manual_seed(1);
  const nn::Seq2Seq model(nn::root, corpus.source_vocab().size(), corpus.target_vocab().size(),
                          recurrent_options(config, 3));
  const Trial attention = train(config, corpus, model, 1);
  CHECK(attention.losses.front() > 3);
  CHECK(attention.losses.back() < 2);
  CHECK(attention.guesses.size() == corpus.held_out_sources().size());
}

}  // namespace
}  // namespace seq2seq_rnn
