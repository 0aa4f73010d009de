// The corpus of the examples that translate: training pairs, held-out pairs, batches; BLEU against published values.
#include <doctest/doctest.h>

#include <cmath>
#include <set>

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

TEST_CASE("n-gram precisions are those of the book's example") {
  // Reference A B C D E F, prediction A B B C D: p1 = 4/5, p2 = 3/4, p3 = 1/3, p4 = 0 (section 10.7).
  const double short_by_one = std::exp(1 - 6.0 / 5);
  CHECK(score("A B B C D", "A B C D E F", 1) == doctest::Approx(short_by_one * std::sqrt(4.0 / 5)));
  CHECK(score("A B B C D", "A B C D E F", 2) ==
        doctest::Approx(short_by_one * std::sqrt(4.0 / 5) * std::pow(3.0 / 4, 0.25)));
  CHECK(score("A B B C D", "A B C D E F", 3) ==
        doctest::Approx(short_by_one * std::sqrt(4.0 / 5) * std::pow(3.0 / 4, 0.25) * std::pow(1.0 / 3, 0.125)));
  CHECK(score("A B B C D", "A B C D E F", 4) == 0);
}

TEST_CASE("short predictions pay the book's penalty") {
  // Reference of six tokens, a prediction of two, k = 2: p1 = p2 = 1 and the factor is exp(1 - 6/2) = 0.14.
  CHECK(score("A B", "A B C D E F", 2) == doctest::Approx(0.1353).epsilon(0.001));
}

TEST_CASE("published translations have their published BLEU") {
  CHECK(score("il est riche .", "il est calme .", 2) == doctest::Approx(0.658).epsilon(0.001));
  CHECK(score("je suis <unk> .", "je suis chez moi .", 2) == doctest::Approx(0.512).epsilon(0.001));
  CHECK(score("je suis chez moi chez moi chez moi juste .", "je suis chez moi .", 2) ==
        doctest::Approx(0.537).epsilon(0.001));
  CHECK(score("elle court .", "il est calme .", 2) == 0);
}

TEST_CASE("a repeated word counts as often as the reference has it") {
  CHECK(score("the the the the", "the cat the mat", 1) == doctest::Approx(std::sqrt(0.5)));
}

TEST_CASE("a prediction shorter than k is judged by the n-grams it has, and an empty one gets 0") {
  CHECK(score("va", "va", 2) == 1);
  CHECK(score("va", "va !", 2) == doctest::Approx(std::exp(-1.0)));
  CHECK(score("", "va !", 2) == 0);
  CHECK(score("va !", "", 2) == 0);
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
