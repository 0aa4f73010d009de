// The corpus of the examples that translate: training pairs, held-out pairs, batches; BLEU against published values.
#include <doctest/doctest.h>

#include <cmath>

#include <xgrad/kit/program/error.h>
#include <xgrad/kit/text/bleu.h>
#include <xgrad/kit/text/corpus.h>
#include <xgrad/ops/creation/create.h>

#include "support.h"

namespace xgrad::kit::testing {
namespace {

double score(std::string_view prediction, std::string_view reference, int k) {
  return bleu(words(prediction), words(reference), k);
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
  CHECK(unknown.source_lengths.at({0}) == 4);
  const auto fingerprint = [&](const char* text) {
    write_text(folder.path() / "other.tsv", text);
    return Corpus({.file = folder.path() / "other.tsv", .pairs = 3, .steps = 4, .min_freq = 1}).fingerprint();
  };
  CHECK(fingerprint("a b\tc d\na\tc\n") == fingerprint("a b\tc d\na\tc\n"));
  CHECK(fingerprint("a b\tc d\na\tc\n") != fingerprint("a b\tc d\na\td\n"));
  CHECK(fingerprint("a b\tc d\na\tc\n") != fingerprint("a b\tc d\nb\tc\n"));
  CHECK_THROWS_AS(Corpus({.file = folder.path() / "none.tsv"}), IoError);
  CHECK_THROWS_AS(Corpus({.file = folder.path() / "pairs.tsv", .steps = 0}), ValueError);
  CHECK_REFUSED(ValueError, Corpus({.file = folder.path() / "pairs.tsv", .pairs = -1}), "corpus",
                "-1 pairs to learn and 100 to judge by");
  CHECK_REFUSED(ValueError, Corpus({.file = folder.path() / "pairs.tsv", .held_out = -1}), "corpus",
                "600 pairs to learn and -1 to judge by");
  CHECK(Corpus({.file = folder.path() / "pairs.tsv", .pairs = 0}).size() == 0);
  CHECK(Corpus({.file = folder.path() / "pairs.tsv", .pairs = 3, .held_out = 0}).held_out().empty());
  write_text(folder.path() / "empty.tsv", "\n");
  CHECK(refusal<DataError>(folder, [&] {
          Corpus({.file = folder.path() / "empty.tsv"});
        }) == "empty.tsv:1: no sentence pair");
}

TEST_CASE("guesses are judged by the best answer to each question") {
  const std::vector<Question> questions{{words("go ."), {words("va !"), words("allez !")}},
                                        {words("he's calm ."), {words("il est calme .")}}};
  CHECK(mean_bleu(std::vector<Tokens>{words("allez !"), words("il est calme .")}, questions, 2) == 1);
  // Of its words 3 of 4 are there, of its pairs 1 of 3, whose precisions count by 1/2 and 1/4.
  const double bleu_of_second = std::pow(3. / 4, 1. / 2) * std::pow(1. / 3, 1. / 4);
  CHECK(mean_bleu(std::vector<Tokens>{words("va !"), words("il est riche .")}, questions, 2) ==
        doctest::Approx((1 + bleu_of_second) / 2));
  CHECK(mean_bleu({}, {}, 2) == 0);
  CHECK_THROWS_AS(mean_bleu({}, questions, 2), ValueError);
}

TEST_CASE("BLEU is that of the formula, and of published translations") {
  struct Row {
    const char *prediction, *reference;
    int k;
    double expected, epsilon = 1e-12;
  };
  // Of A B B C D the precisions are p1 = 4/5, p2 = 3/4, p3 = 1/3, p4 = 0 (section 10.7); it is one word shorter.
  const double one_shorter = std::exp(1 - 6.0 / 5), p1 = std::sqrt(4.0 / 5), p2 = std::pow(3.0 / 4, 0.25);
  const std::vector<Row> rows{
      {"A B B C D", "A B C D E F", 1, one_shorter * p1},
      {"A B B C D", "A B C D E F", 2, one_shorter * p1 * p2},
      {"A B B C D", "A B C D E F", 3, one_shorter * p1 * p2 * std::pow(1.0 / 3, 0.125)},
      {"A B B C D", "A B C D E F", 4, 0},
      {"A B", "A B C D E F", 2, std::exp(1 - 6.0 / 2)},
      {"il est riche .", "il est calme .", 2, 0.658, 0.001},
      {"je suis <unk> .", "je suis chez moi .", 2, 0.512, 0.001},
      {"je suis chez moi chez moi chez moi juste .", "je suis chez moi .", 2, 0.537, 0.001},
      {"elle court .", "il est calme .", 2, 0},
      {"the the the the", "the cat the mat", 1, std::sqrt(0.5)},  // a repeated word counts as the reference has it
      {"va", "va", 2, 1},                                         // by the n-grams that there are
      {"va", "va !", 2, std::exp(-1.0)},
      {"", "va !", 2, 0},
      {"va !", "", 2, 0}};
  for (const Row& row : rows) {
    CAPTURE(row.prediction);
    CAPTURE(row.k);
    CHECK(score(row.prediction, row.reference, row.k) == doctest::Approx(row.expected).epsilon(row.epsilon));
  }
  CHECK_THROWS_AS(score("va !", "va !", 0), ValueError);
}

TEST_CASE("of several references the best counts") {
  const std::vector<Tokens> references = {words("nous avons perdu ."), words("on a perdu .")};
  CHECK(best_bleu(words("on a perdu ."), references, 2) == 1);
  CHECK(best_bleu(words("on a gagné ."), references, 2) == score("on a gagné .", "on a perdu .", 2));
  CHECK(best_bleu(words("on a perdu ."), {}, 2) == 0);
}

}  // namespace
}  // namespace xgrad::kit::testing
