// BLEU against published and hand-computed values.
#include <doctest/doctest.h>

#include <cmath>

#include <xgrad/kit/text/bleu.h>
#include <xgrad/kit/text/text.h>

using namespace xgrad::kit;

namespace {

double score(std::string_view prediction, std::string_view reference, int k) {
  return bleu(words(prediction), words(reference), k);
}

}  // namespace

TEST_CASE("an exact translation has BLEU 1") {
  CHECK(score("je suis chez moi .", "je suis chez moi .", 2) == 1);
  CHECK(score("va !", "va !", 2) == 1);
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
  CHECK_THROWS_AS(score("va !", "va !", 0), xgrad::ValueError);
}

TEST_CASE("of several references the best counts") {
  const std::vector<Tokens> references = {words("nous avons perdu ."), words("on a perdu .")};
  CHECK(best_bleu(words("on a perdu ."), references, 2) == 1);
  CHECK(best_bleu(words("on a gagné ."), references, 2) == score("on a gagné .", "on a perdu .", 2));
  CHECK(best_bleu(words("on a perdu ."), {}, 2) == 0);
}
