// The corpus of the examples that translate: what is learnt, what is held out, what a batch holds, how guesses are
// judged.
#include <doctest/doctest.h>

#include <set>
#include <stdexcept>

#include <kit/corpus.h>
#include <kit/error.h>

#include "examples/support.h"

namespace kit::testing {
namespace {

TEST_CASE("the bundled corpus has 600 pairs to learn, and no question among them") {
  const Corpus corpus{CorpusOptions{}};
  CHECK(corpus.size() == 600);
  CHECK(corpus.held_out().size() > 50);
  std::set<Tokens> asked;
  for (const Question& question : corpus.held_out()) {
    CHECK(asked.insert(question.source).second);
    CHECK(!question.answers.empty());
  }
}

TEST_CASE("a batch holds sentences with their ends, and the decoder's input shifted by one") {
  const TemporaryFolder folder;
  write_text(folder.path() / "pairs.tsv", "Go.\tVa !\nGo!\tVa !\nHe runs.\tIl court.\nHe sleeps.\tIl dort.\n");
  const Corpus corpus({.file = folder.path() / "pairs.tsv", .pairs = 3, .steps = 4, .min_freq = 1});
  CHECK(corpus.size() == 3);
  CHECK(corpus.held_out().size() == 1);
  const std::vector<std::size_t> rows{2, 0};
  const CorpusBatch batch = corpus.batch(rows);
  CHECK(batch.source.shape() == xgrad::Shape{2, 4});
  CHECK(batch.source_lengths.at({0}) == 4);
  CHECK(batch.source_lengths.at({1}) == 3);
  CHECK(batch.tokens == 7);
  CHECK(batch.target_in.at({0, 0}) == corpus.bos());
  for (int t = 1; t < 4; ++t) CHECK(batch.target_in.at({0, t}) == batch.target_out.at({0, t - 1}));
  CHECK(batch.target_out.at({1, 2}) == corpus.eos());
  CHECK(batch.target_out.at({1, 3}) == corpus.pad());
  CHECK(corpus.words({batch.target_out.data() + 4, 4}) == Tokens{"va", "!"});
  const CorpusBatch unknown = corpus.sources({words("he flies .")});
  CHECK(unknown.source.at({0, 1}) == corpus.source_vocab().id("<unk>"));
  CHECK_THROWS_AS(Corpus({.file = folder.path() / "none.tsv"}), IoError);
  write_text(folder.path() / "empty.tsv", "\n");
  CHECK_THROWS_AS(Corpus({.file = folder.path() / "empty.tsv"}), DataError);
}

TEST_CASE("guesses are judged by the best answer to each question") {
  const std::vector<Question> questions{{words("go ."), {words("va !"), words("allez !")}},
                                        {words("he's calm ."), {words("il est calme .")}}};
  CHECK(mean_bleu(std::vector<Tokens>{words("allez !"), words("il est calme .")}, questions, 2) == 1);
  CHECK(mean_bleu(std::vector<Tokens>{words("va !"), words("il est riche .")}, questions, 2) ==
        doctest::Approx((1 + 0.6580) / 2).epsilon(1e-3));
  CHECK(mean_bleu({}, {}, 2) == 0);
  CHECK_THROWS_AS(mean_bleu({}, questions, 2), std::invalid_argument);
}

}  // namespace
}  // namespace kit::testing
