// The corpus of the examples that translate: training pairs, held-out pairs, batches, how guesses are judged.
#include <doctest/doctest.h>

#include <set>

#include <xgrad/kit/program/error.h>
#include <xgrad/kit/text/corpus.h>
#include <xgrad/ops/arrange/create.h>

#include "examples/support.h"

namespace xgrad::kit::testing {
namespace {

TEST_CASE("the bundled corpus has 600 pairs to learn, and no question among them") {
  const Corpus corpus({.file = XGRAD_EXAMPLES_DIR "/translate/data/en-fr.tsv"});
  CHECK(corpus.size() == 600);
  CHECK(corpus.held_out().size() > 50);
  std::set<Tokens> asked;
  for (const Question& question : corpus.held_out()) {
    CHECK(asked.insert(question.source).second);
    CHECK(!question.answers.empty());
  }
}

TEST_CASE("a batch holds sentences with their ends") {
  const TemporaryFolder folder;
  write_text(folder.path() / "pairs.tsv", "Go.\tVa !\nGo!\tVa !\nHe runs.\tIl court.\nHe sleeps.\tIl dort.\n");
  const Corpus corpus({.file = folder.path() / "pairs.tsv", .pairs = 3, .steps = 4, .min_freq = 1});
  CHECK(corpus.size() == 3);
  CHECK(corpus.held_out().size() == 1);
  CHECK(corpus.held_out_sources() == std::vector<Tokens>{words("he sleeps .")});
  const CorpusBatch batch = corpus.batch(index({2, 0}));
  CHECK(batch.source.shape() == Shape{2, 4});
  CHECK(batch.source_lengths.at({0}) == 4);
  CHECK(batch.source_lengths.at({1}) == 3);
  CHECK(batch.tokens == 7);
  CHECK(batch.target.at({1, 2}) == corpus.eos());
  CHECK(batch.target.at({1, 3}) == corpus.pad());
  CHECK(corpus.words({batch.target.data() + 4, 4}) == Tokens{"va", "!"});
  CHECK(corpus.sentences(batch.target) == std::vector<Tokens>{words("il court ."), words("va !")});
  CHECK_THROWS_AS(corpus.sentences(batch.source_lengths), ShapeError);
  CHECK_THROWS_AS(corpus.batch(index({0, 3})), ValueError);
  const CorpusBatch unknown = corpus.sources({words("he flies .")});
  CHECK(unknown.source.at({0, 1}) == corpus.source_vocab().id("<unk>"));
  CHECK_THROWS_AS(Corpus({.file = folder.path() / "none.tsv"}), IoError);
  CHECK_THROWS_AS(Corpus({.file = folder.path() / "pairs.tsv", .steps = 0}), ValueError);
  CHECK_THROWS_AS(Corpus({.file = folder.path() / "pairs.tsv", .pairs = -1}), ValueError);
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
  CHECK_THROWS_AS(mean_bleu({}, questions, 2), ValueError);
}

}  // namespace
}  // namespace xgrad::kit::testing
