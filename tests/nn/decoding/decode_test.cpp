// Decoding: the worked tables, properties on random tables, sampling, and models with a memory of their own.
#include "support/check.h"

#include <cmath>
#include <map>
#include <set>
#include <string>

#include <xgrad/xgrad.h>

namespace xgrad::testing {
namespace {

using namespace nn;

// A model that looks the logits of the next token up by all tokens before, bos included.
class Table : public Stepper {
 public:
  using Prefix = std::vector<std::int64_t>;
  using Rows = std::function<std::vector<Real>(const Prefix&)>;

  explicit Table(Rows logits, std::int64_t batch = 1)
      : logits_(std::move(logits)), written_(static_cast<std::size_t>(batch)) {}
  // Sequences that had these tokens before.
  Table(Rows logits, std::vector<Prefix> before) : logits_(std::move(logits)), written_(std::move(before)) {}

  std::int64_t batch() const override { return std::ssize(written_); }

  Tensor step(const Index& tokens) override {
    std::vector<Real> logits;
    for (std::size_t b = 0; b < written_.size(); ++b) {
      written_[b].push_back(tokens.data()[b]);
      for (const Real logit : logits_(written_[b])) logits.push_back(logit);
    }
    steps.push_back(written_);
    return Array({batch(), std::ssize(logits) / std::max<std::int64_t>(1, batch())}, logits);
  }

  void select(const Index& rows) override {
    ++selections;
    std::vector<Prefix> chosen;
    for (const std::int64_t row : rows) chosen.push_back(written_[static_cast<std::size_t>(row)]);
    written_ = std::move(chosen);
  }

  std::vector<std::vector<Prefix>> steps;  // the prefixes of each step
  int selections = 0;

 private:
  Rows logits_;
  std::vector<Prefix> written_;
};

// Probabilities as logits.
std::vector<Real> logs(std::vector<Real> probabilities) {
  for (Real& p : probabilities) p = std::log(p);
  return probabilities;
}

// The worked example: tokens A, B, C and the end, and the probabilities of the next; 1/4 where the book says nothing.
constexpr std::int64_t eos = 3, bos = 4;
std::vector<Real> worked(const Table::Prefix& prefix) {
  const std::map<Table::Prefix, std::vector<Real>> rows{
      {{bos}, {0.5, 0.2, 0.2, 0.1}},          {{bos, 0}, {0.1, 0.4, 0.3, 0.2}},
      {{bos, 0, 1}, {0.2, 0.2, 0.4, 0.2}},    {{bos, 0, 2}, {0.1, 0.6, 0.2, 0.1}},
      {{bos, 0, 1, 2}, {0.0, 0.2, 0.2, 0.6}}, {{bos, 0, 2, 1}, {0.1, 0.2, 0.1, 0.6}}};
  const auto found = rows.find(prefix);
  return logs(found == rows.end() ? std::vector<Real>(4, 0.25) : found->second);
}

// Normal logits for every prefix, the first token of which says which table is meant.
Table::Rows random_rows(std::int64_t V, std::uint64_t seed) {
  return [V, seed](const Table::Prefix& prefix) {
    std::uint64_t code = 1;
    for (const std::int64_t token : prefix) code = 31 * code + static_cast<std::uint64_t>(token) + 1;
    const Array logits = random_normal({V}, {.seed = seed, .draw = code});
    return std::vector<Real>(logits.begin(), logits.end());
  };
}

// ln p of a whole sequence by a table.
double log_p_of(const Table::Rows& rows, Table::Prefix prefix, const std::vector<std::int64_t>& tokens) {
  double sum = 0;
  for (const std::int64_t token : tokens) {
    const std::vector<Real> logits = rows(prefix);
    sum += log_softmax(Array({std::ssize(logits)}, logits)).value().at({token});
    prefix.push_back(token);
  }
  return sum;
}

// The hypothesis with the eos that ended it.
std::vector<std::int64_t> written(const Hypothesis& found, std::int64_t end) {
  std::vector<std::int64_t> tokens = found.tokens;
  if (found.ended) tokens.push_back(end);
  return tokens;
}

// ---- Greedy ----

TEST_CASE("Greedy search on the worked table finds A B C <eos> with 0.048") {
  Table table{worked, 2};
  const Decoded result = greedy(table, {.bos = bos, .eos = eos});
  CHECK(equal(result.tokens, Index({2, 4}, {0, 1, 2, 3, 0, 1, 2, 3})));
  CHECK(equal(result.lengths, Index({2}, {3, 3})));
  CHECK(std::exp(result.scores.at({1})) == doctest::Approx(0.048));
}

TEST_CASE("Greedy search stops at max_length, and only there without an end") {
  Table table{worked}, endless{worked};
  const Decoded result = greedy(table, {.bos = bos, .eos = eos, .max_length = 2});
  CHECK(equal(result.tokens, Index({1, 2}, {0, 1})));
  CHECK(equal(result.lengths, Index({1}, {2})));
  CHECK(std::exp(result.scores.item()) == doctest::Approx(0.2));
  CHECK(equal(greedy(endless, {.bos = bos, .max_length = 4}).tokens, Index({1, 4}, {0, 1, 2, 3})));
}

// ---- Exhaustive ----

TEST_CASE("Exhaustive search on the worked table finds A C B <eos> with 0.054") {
  Table table{worked};
  const auto found =
      exhaustive_search(table, {.bos = bos, .eos = eos, .max_length = 4, .length_penalty = 0.75, .num_best = 2});
  REQUIRE(found.size() == 1);
  REQUIRE(found[0].size() == 2);
  const Hypothesis& best = found[0][0];
  CHECK(best.tokens == std::vector<std::int64_t>{0, 2, 1});
  CHECK(best.ended);
  CHECK(std::exp(best.log_p) == doctest::Approx(0.054));
  CHECK(best.score == doctest::Approx(std::log(0.054) / std::pow(4, 0.75)));
  CHECK(found[0][1].tokens == std::vector<std::int64_t>{0, 1, 2});
  // By probability alone the shortest sentence wins.
  Table again{worked};
  const Hypothesis shortest = exhaustive_search(again, {.bos = bos, .eos = eos, .max_length = 4})[0][0];
  CHECK(shortest.tokens.empty());
  CHECK(shortest.ended);
  CHECK(std::exp(shortest.log_p) == doctest::Approx(0.1));
}

TEST_CASE("Exhaustive search sees every sequence once, and their probabilities sum to 1") {
  for (const std::int64_t V : {2, 3, 4}) {
    Table table{random_rows(V, 5), 2};
    const auto found = exhaustive_search(table, {.bos = V, .eos = 0, .max_length = 4, .num_best = 1000});
    std::int64_t expected = 0, open = 1;
    for (int t = 0; t < 4; ++t) expected += open, open *= V - 1;
    expected += open;
    for (const Hypotheses& list : found) {
      CHECK(std::ssize(list) == expected);
      std::set<std::vector<std::int64_t>> different;
      double sum = 0;
      for (const Hypothesis& one : list) {
        different.insert(written(one, 0));
        sum += std::exp(one.log_p);
        CHECK(one.log_p == doctest::Approx(log_p_of(random_rows(V, 5), {V}, written(one, 0))).epsilon(1e-12));
      }
      CHECK(std::ssize(different) == expected);
      CHECK(sum == doctest::Approx(1).epsilon(1e-12));
    }
  }
}

// ---- Beams ----

// Five tokens; the next one depends on the one before. The two likeliest of the first step are A and C, of the second
// AB and CE, of the third ABD and CED.
std::vector<Real> five_tokens(const Table::Prefix& prefix) {
  const std::map<std::int64_t, std::vector<Real>> rows{{9, {0.4, 0.1, 0.3, 0.1, 0.1}},
                                                       {0, {0.1, 0.5, 0.2, 0.1, 0.1}},
                                                       {2, {0.1, 0.1, 0.1, 0.1, 0.6}},
                                                       {1, {0.1, 0.1, 0.1, 0.6, 0.1}},
                                                       {4, {0.1, 0.1, 0.1, 0.5, 0.2}}};
  return logs(rows.at(prefix.back()));
}

TEST_CASE("A beam of width 2 over five tokens considers A, C, AB, CE, ABD, CED") {
  Table table{five_tokens};
  const auto found = beam_search(
      table, {.bos = 9, .max_length = 3, .num_beams = 2, .candidates = Candidates::prefixes, .num_best = 10});
  std::set<std::string> candidates;
  for (const Hypothesis& one : found[0]) {
    std::string letters;
    for (const std::int64_t token : one.tokens) letters += static_cast<char>('A' + token);
    candidates.insert(letters);
    CHECK(one.score ==
          doctest::Approx(log_p_of(five_tokens, {9}, one.tokens) / std::pow(std::ssize(one.tokens), 0.75)));
  }
  CHECK(candidates == std::set<std::string>{"A", "C", "AB", "CE", "ABD", "CED"});

  // The model saw the same: one row, then two in the order of their probability.
  using Step = std::vector<Table::Prefix>;
  CHECK(table.steps == std::vector<Step>{{{9}}, {{9, 0}, {9, 2}}, {{9, 0, 1}, {9, 2, 4}}});
}

TEST_CASE("A beam as wide as there are sequences is exhaustive search") {
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    CAPTURE(seed);
    const std::int64_t V = 2 + static_cast<std::int64_t>(seed % 4), L = 1 + static_cast<std::int64_t>(seed / 4 % 4);
    const double alpha = std::vector<double>{0, 0.5, 0.75, 1, -0.5}[seed % 5];
    std::int64_t all = 0, open = 1;
    for (std::int64_t t = 0; t < L; ++t) all += open, open *= V - 1;
    all += open;
    Table one{random_rows(V, seed), 2}, other{random_rows(V, seed), 2};
    const auto expected =
        exhaustive_search(one, {.bos = V, .eos = 0, .max_length = L, .length_penalty = alpha, .num_best = 5});
    const auto found = beam_search(
        other, {.bos = V, .eos = 0, .max_length = L, .num_beams = all, .length_penalty = alpha, .num_best = 5});
    for (std::size_t b = 0; b < 2; ++b) {
      REQUIRE(found[b].size() == expected[b].size());
      for (std::size_t i = 0; i < found[b].size(); ++i) {
        CHECK(found[b][i].tokens == expected[b][i].tokens);
        CHECK(found[b][i].ended == expected[b][i].ended);
        CHECK(found[b][i].score == doctest::Approx(expected[b][i].score).epsilon(1e-12));
      }
    }
  }
}

// Search by the definition on strings, one sequence at a time: what beam_search must find.
std::set<std::vector<std::int64_t>> by_definition(const Table::Rows& rows, std::int64_t V, std::int64_t L,
                                                  std::size_t k) {
  using Way = std::pair<double, std::vector<std::int64_t>>;
  std::vector<Way> beam{{0, {}}};
  std::set<std::vector<std::int64_t>> complete;
  for (std::int64_t t = 0; t < L && complete.size() < k; ++t) {
    std::vector<Way> ways;
    for (const auto& [log_p, tokens] : beam) {
      for (std::int64_t token = 0; token < V; ++token) {
        std::vector<std::int64_t> longer = tokens;
        longer.push_back(token);
        Table::Prefix prefix{V};
        ways.push_back({log_p_of(rows, prefix, longer), longer});
      }
    }
    std::ranges::sort(ways, std::greater());
    beam.clear();
    for (std::size_t rank = 0; rank < ways.size(); ++rank) {
      const bool ends = ways[rank].second.back() == 0;
      if ((ends || t + 1 == L) && rank < k) complete.insert(ways[rank].second);
      if (!ends && beam.size() < k) beam.push_back(ways[rank]);
    }
  }
  return complete;
}

TEST_CASE("A beam search returns what the definition says") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    CAPTURE(seed);
    const std::int64_t V = 3 + static_cast<std::int64_t>(seed % 4), L = 2 + static_cast<std::int64_t>(seed % 4);
    const std::int64_t k = 2 + static_cast<std::int64_t>(seed % 3);
    Table table{random_rows(V, seed)};
    const auto found = beam_search(table, {.bos = V, .eos = 0, .max_length = L, .num_beams = k, .num_best = 100});
    std::set<std::vector<std::int64_t>> complete;
    for (const Hypothesis& one : found[0]) complete.insert(written(one, 0));
    CHECK(complete == by_definition(random_rows(V, seed), V, L, static_cast<std::size_t>(k)));
    CHECK(std::ranges::is_sorted(found[0], std::greater(), &Hypothesis::score));
  }
}

TEST_CASE("A longer wait never gives a worse hypothesis, and no wait after the impossible a better one") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    for (const double alpha : {0.0, 0.75, 1.5, -0.5}) {
      const auto best = [&](Stopping stopping, std::int64_t num_best) {
        Table table{random_rows(4, seed)};
        BeamOptions options{.bos = 4, .eos = 0, .max_length = 8, .num_beams = 2, .length_penalty = alpha};
        options.stopping = stopping;
        options.num_best = num_best;
        return beam_search(table, options)[0][0].score;
      };
      CHECK(best(Stopping::impossible, 1) >= best(Stopping::enough, 1));
      CHECK(best(Stopping::impossible, 1) >= best(Stopping::unlikely, 1));
      CHECK(best(Stopping::impossible, 1) == best(Stopping::impossible, 1000));
    }
  }
}

TEST_CASE("The rules of stopping stop in this order") {
  const auto steps = [](Stopping stopping) {
    // The first token ends with 0.6, or goes on with certainty.
    Table table{[](const Table::Prefix& prefix) {
      return std::vector<Real>{std::log(prefix.size() == 1 ? Real(0.6) : Real(0.001)),
                               std::log(prefix.size() == 1 ? Real(0.4) : Real(0.999))};
    }};
    beam_search(table, {.bos = 2, .eos = 0, .max_length = 9, .num_beams = 1, .stopping = stopping});
    return table.steps.size();
  };
  CHECK(steps(Stopping::enough) == 1);
  // ln 0.4 / 2^0.75 > ln 0.6: going on looks better from the second token on.
  CHECK(steps(Stopping::unlikely) == 1);
  CHECK(steps(Stopping::impossible) == 9);
}

TEST_CASE("Beams of a batch are the beams of its members") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    const BeamOptions options{.bos = 5, .eos = 0, .max_length = 6, .num_beams = 3, .num_best = 3};
    // Row b of the batch knows its number: a first token of its own.
    const auto rows = random_rows(5, seed);
    Table batch{rows, std::vector<Table::Prefix>{{10}, {11}, {12}, {13}}};
    const auto together = beam_search(batch, options);
    REQUIRE(together.size() == 4);
    for (std::size_t b = 0; b < 4; ++b) {
      Table table{rows, std::vector<Table::Prefix>{{10 + static_cast<std::int64_t>(b)}}};
      const Hypotheses alone = beam_search(table, options)[0];
      REQUIRE(together[b].size() == alone.size());
      for (std::size_t i = 0; i < alone.size(); ++i) {
        CHECK(together[b][i].tokens == alone[i].tokens);
        CHECK(together[b][i].score == alone[i].score);
      }
    }
  }
}

TEST_CASE("Rows are selected only when they change") {
  Table one{random_rows(5, 1)};
  beam_search(one, {.bos = 5, .max_length = 6, .num_beams = 1});
  CHECK(one.selections == 0);
  Table two{five_tokens};  // one row becomes two, which keep their order
  beam_search(two, {.bos = 9, .max_length = 3, .num_beams = 2});
  CHECK(two.selections == 1);
}

TEST_CASE("A sequence that has ended leaves the batch") {
  Table table{[](const Table::Prefix& prefix) {  // ends when it has as many tokens as its first one says
                const bool ends = std::ssize(prefix) > 2;
                return std::vector<Real>{ends ? Real(9) : Real(-9), 1, 0};
              },
              2};
  beam_search(table, {.bos = 3, .eos = 0, .max_length = 9, .num_beams = 2});
  REQUIRE(table.steps.size() == 3);
  CHECK(table.steps[0].size() == 2);
  CHECK(table.steps[2].size() == 4);
}

TEST_CASE("A batch without sequences stays one") {
  Table table{worked, 0};
  CHECK(greedy(table, {.bos = bos, .eos = eos}).tokens.shape() == Shape{0, 0});
  CHECK(beam_search(table, {.bos = bos, .eos = eos}).empty());
  CHECK(exhaustive_search(table, {.bos = bos, .eos = eos}).empty());
  CHECK(best_of({}, eos).tokens.shape() == Shape{0, 0});
  CHECK(table.steps.empty());
}

TEST_CASE("What is impossible is not found") {
  const auto two_ways = [](const Table::Prefix&) { return std::vector<Real>{-infinity, 0, 0, -infinity}; };
  Table table{two_ways};
  CHECK(beam_search(table, {.bos = 4, .max_length = 2, .num_beams = 8, .num_best = 8})[0].size() == 4);
  Table same{two_ways};
  CHECK(exhaustive_search(same, {.bos = 4, .max_length = 2, .num_best = 100})[0].size() == 4);
  // Of equals, those of the first row are kept.
  Table tied{two_ways};
  const Hypotheses kept = beam_search(tied, {.bos = 4, .max_length = 2, .num_beams = 2, .num_best = 2})[0];
  CHECK(kept[0].tokens == std::vector<std::int64_t>{1, 1});
  CHECK(kept[1].tokens == std::vector<std::int64_t>{1, 2});
}

TEST_CASE("The best hypotheses as arrays are filled up with eos") {
  const std::vector<Hypotheses> found{{{.tokens = {5, 6}, .ended = true, .log_p = -1}}, {{.tokens = {7}, .log_p = -2}}};
  const Decoded best = best_of(found, 2);
  CHECK(equal(best.tokens, Index({2, 3}, {5, 6, 2, 7, 2, 2})));
  CHECK(equal(best.lengths, Index({2}, {2, 1})));
  CHECK(best.scores.at({1}) == -2);
  CHECK_REFUSED(ValueError, best_of({{}}, 2), "best_of", "sequence 0 has no hypothesis");
}

// ---- Sampling ----

TEST_CASE("Temperature sharpens or flattens, then top_k and top_p choose") {
  const Array logits({1, 5}, logs({0.1, 0.4, 0.2, 0.25, 0.05}));
  check_close(sampling_probabilities(logits, {}), Array({1, 5}, {0.1, 0.4, 0.2, 0.25, 0.05}));
  check_close(sampling_probabilities(logits, {.temperature = 0.5}),
              Array({1, 5}, {0.01 / 0.275, 0.16 / 0.275, 0.04 / 0.275, 0.0625 / 0.275, 0.0025 / 0.275}));
  check_close(sampling_probabilities(logits, {.top_k = 2}), Array({1, 5}, {0, 0.4 / 0.65, 0, 0.25 / 0.65, 0}));
  // 0.4 + 0.25 = 0.65 < 0.7 <= 0.85
  check_close(sampling_probabilities(logits, {.top_p = 0.7}),
              Array({1, 5}, {0, 0.4 / 0.85, 0.2 / 0.85, 0.25 / 0.85, 0}));
  // Of the two that are left the first has 0.615: enough for 0.6, not for 0.62.
  check_close(sampling_probabilities(logits, {.top_k = 2, .top_p = 0.6}), Array({1, 5}, {0, 1, 0, 0, 0}));
  check_close(sampling_probabilities(logits, {.top_k = 2, .top_p = 0.62}),
              Array({1, 5}, {0, 0.4 / 0.65, 0, 0.25 / 0.65, 0}));
  check_close(sampling_probabilities(logits, {.top_p = 1e-9}), Array({1, 5}, {0, 1, 0, 0, 0}));
  check_close(sampling_probabilities(logits, {.top_k = 100}), sampling_probabilities(logits, {}));
  check_close(sampling_probabilities(Array({2, 3}, Real(7)), {.top_k = 2}), Array({2, 3}, {0.5, 0.5, 0, 0.5, 0.5, 0}));
}

TEST_CASE("Samples follow the probabilities, and only tokens that were kept are drawn") {
  const std::vector<double> p{0.1, 0.4, 0.2, 0.25, 0.05};
  const std::int64_t N = 20000;
  Table table{[&](const Table::Prefix&) { return logs({p.begin(), p.end()}); }, N};
  const Decoded drawn = sample(table, {.bos = 5, .max_length = 1, .seed = 3});
  std::vector<double> counts(5);
  for (const std::int64_t token : drawn.tokens) ++counts[static_cast<std::size_t>(token)];
  double chi_squared = 0;
  for (std::size_t i = 0; i < 5; ++i) {
    chi_squared += std::pow(counts[i] - p[i] * N, 2) / (p[i] * N);
    CHECK(drawn.scores.at({0}) == doctest::Approx(std::log(p[static_cast<std::size_t>(drawn.tokens.at({0, 0}))])));
  }
  CHECK(chi_squared < 18.5);  // 99.9 % of four degrees of freedom
  table.select(arange(N));
  for (const std::int64_t token : sample(table, {.bos = 5, .max_length = 1, .top_k = 2, .seed = 4}).tokens) {
    CHECK_MESSAGE((token == 1 || token == 3), "token ", token);
  }
}

TEST_CASE("A seed gives the same text, whoever else is in the batch") {
  const auto draw = [](std::int64_t batch, std::optional<std::uint64_t> seed) {
    Table table{random_rows(6, 1), batch};
    return sample(table, {.bos = 6, .eos = 0, .max_length = 12, .temperature = 2, .seed = seed});
  };
  const Decoded alone = draw(1, 7), many = draw(3, 7);
  CHECK(equal(many.tokens, draw(3, 7).tokens));
  CHECK(equal(many.lengths, draw(3, 7).lengths));
  for (std::int64_t t = 0; t < alone.tokens.dim(1); ++t) CHECK(alone.tokens.at({0, t}) == many.tokens.at({0, t}));
  CHECK(!equal(draw(1, 7).tokens, draw(1, 8).tokens));
  // Nor does it depend on how long a text may be.
  const auto endless = [](std::int64_t max_length) {
    Table table{[](const Table::Prefix&) { return std::vector<Real>(9, 0); }, 3};
    return sample(table, {.max_length = max_length, .seed = 7}).tokens;
  };
  CHECK(equal(endless(30)[{_, slice(0, 12)}], endless(12)));
  const Index flat = endless(30);  // of equal tokens, the one that a number of [0, 1) falls on
  for (std::int64_t row = 0; row < 3; ++row) {
    CHECK(!equal(flat[{row}], flat[{(row + 1) % 3}]));
    for (std::int64_t t = 0; t < 30; ++t) {
      const auto words = random_words({.seed = 7}, static_cast<std::uint64_t>(row << 32 | t));
      const double u = std::ldexp(words[0] >> 5, -27) + std::ldexp(words[1] >> 6, -53);
      CHECK(flat.at({row, t}) == static_cast<std::int64_t>(9 * u));
    }
  }
  manual_seed(5);
  const Decoded first = draw(2, {}), second = draw(2, {});
  manual_seed(5);
  CHECK(equal(draw(2, {}).tokens, first.tokens));
  CHECK(equal(draw(2, {}).tokens, second.tokens));
  CHECK(!equal(first.tokens, second.tokens));
}

// ---- Ends, penalties, processors ----

TEST_CASE("Ends are none, one or several tokens, however they are given") {
  const std::optional<std::int64_t> none, two = 2;
  CHECK(Ends().tokens().empty());
  CHECK(Ends(none).tokens().empty());
  CHECK(Ends(two).tokens() == std::vector<std::int64_t>{2});
  CHECK(Ends(3).tokens() == std::vector<std::int64_t>{3});
  CHECK(Ends{4, 5}.tokens() == std::vector<std::int64_t>{4, 5});
  CHECK(Ends(std::vector<std::int64_t>{6, 7}).has(7));
  CHECK(!Ends(std::vector<std::int64_t>{6, 7}).has(5));
}

TEST_CASE("A sequence ends with any of several tokens, and not before its smallest length") {
  // After each prefix the tokens 0, 1, 2, ... are each less probable than the one before.
  const auto falling = [](const Table::Prefix&) { return std::vector<Real>{5, 4, 3, 2, 1}; };
  Table one(falling), two(falling), three(falling);
  CHECK(equal(greedy(one, {.bos = 4, .eos = {0, 1}, .max_length = 3}).tokens, Index({1, 1}, 0)));
  const Decoded later = greedy(two, {.bos = 4, .eos = {1, 0}, .max_length = 5, .min_length = 2});
  CHECK(equal(later.tokens, Index({1, 3}, {2, 2, 0})));
  CHECK(later.lengths.item() == 2);
  // The scores are those of the model, whatever was forbidden.
  const double total = std::log(std::exp(5) + std::exp(4) + std::exp(3) + std::exp(2) + std::exp(1));
  CHECK(later.scores.item() == doctest::Approx(3 + 3 + 5 - 3 * total));
  const auto found = beam_search(
      three,
      {.bos = 4, .eos = {0, 1}, .max_length = 4, .num_beams = 2, .length_penalty = 0, .num_best = 2, .min_length = 1});
  CHECK(found[0][0].tokens == std::vector<std::int64_t>{2});
  CHECK(found[0][0].log_p == doctest::Approx(3 + 5 - 2 * total));
}

TEST_CASE("A token that was written is less probable by the repetition penalty, whatever the sign of its logit") {
  const auto fixed = [](const Table::Prefix&) { return std::vector<Real>{3, 2, -1, -1.5}; };
  const auto written = [&](double penalty) {
    Table table(fixed);
    return greedy(table, {.bos = 0, .max_length = 4, .repetition_penalty = penalty}).tokens;
  };
  CHECK(equal(written(1), Index({1, 4}, {0, 0, 0, 0})));
  CHECK(equal(written(2), Index({1, 4}, {0, 1, 0, 0})));    // 3, 2, -1, -1.5; then 1.5, 2, ...; then 1.5, 1
  CHECK(equal(written(1e9), Index({1, 4}, {0, 1, 0, 0})));  // near 0, which is more than -1
  const auto negative = [](const Table::Prefix&) { return std::vector<Real>{-1, -1.2, -3}; };
  Table table(negative);
  CHECK(
      equal(greedy(table, {.bos = 0, .max_length = 4, .repetition_penalty = 1.5}).tokens, Index({1, 4}, {0, 1, 0, 0})));
  // A prompt may have tokens that the model does not write.
  struct Prompted : Table {
    using Table::Table;
    std::vector<std::int64_t> before(std::int64_t) const override { return {4, 0}; }
  };
  Prompted prompted(fixed);
  CHECK(equal(greedy(prompted, {.bos = 0, .max_length = 1, .repetition_penalty = 2}).tokens, index({{1}})));
}

TEST_CASE("With changed scores a beam of one is greedy search, and what is reported is ln p of the model") {
  const std::int64_t V = 6;
  const LogitsProcessor prefer = [](std::span<const std::int64_t> written, std::span<Real> scores) {
    scores[written.size() % 6] += 4;  // above ln 1
  };
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    const auto rows = random_rows(V, seed);
    for (const double penalty : {1., 3., 0.3}) {
      for (const std::int64_t min_length : {0, 4}) {
        for (const LogitsProcessor& process : {LogitsProcessor(), prefer}) {
          Table one{rows, 2}, other{rows, 2}, wide{rows, 2}, drawn{rows, 2};
          const auto with = [&](auto options) {
            options.bos = V;
            options.eos = 0;
            options.max_length = 7;
            options.min_length = min_length;
            options.repetition_penalty = penalty;
            options.process = process;
            return options;
          };
          const Decoded expected = greedy(one, with(GreedyOptions{}));
          BeamOptions options = with(BeamOptions{.num_beams = 1});
          const auto found = beam_search(other, options);
          const Decoded best = best_of(found, 0);
          CHECK(equal(best.tokens, expected.tokens));
          check_close(best.scores, expected.scores);
          options.num_beams = options.num_best = 3;
          const auto three = beam_search(wide, options);
          for (const Hypothesis& each : three[1]) {
            CHECK(each.log_p == doctest::Approx(log_p_of(rows, {V}, written(each, 0))).epsilon(1e-5));
            CHECK(each.score <= 0);
          }
          const Decoded sampled = sample(drawn, with(SamplingOptions{.seed = seed}));
          const std::int64_t written = std::min<std::int64_t>(sampled.lengths.at({0}) + 1, 7);  // with the end
          const std::vector<std::int64_t> tokens(sampled.tokens.begin(), sampled.tokens.begin() + written);
          CHECK(sampled.scores.at({0}) == doctest::Approx(log_p_of(rows, {V}, tokens)).epsilon(1e-5));
        }
      }
    }
  }
}

TEST_CASE("A beam is searched by the probabilities after the changes, and their score is by length") {
  // Two tokens; without the end, which is forbidden at first, the others are 0.6 / 0.9 and 0.3 / 0.9.
  Table table([](const Table::Prefix&) { return logs({0.1, 0.6, 0.3}); });
  const auto found = beam_search(
      table,
      {.bos = 3, .eos = 0, .max_length = 2, .num_beams = 7, .length_penalty = 1, .num_best = 7, .min_length = 1});
  REQUIRE(found[0].size() == 6);
  CHECK(found[0][0].tokens == std::vector<std::int64_t>{1, 1});
  CHECK(found[0][0].score == doctest::Approx((std::log(0.6 / 0.9) + std::log(0.6)) / 2));
  CHECK(found[0][0].log_p == doctest::Approx(2 * std::log(0.6)));
  double sum = 0;
  for (const Hypothesis& each : found[0]) sum += std::exp(2 * each.score);
  CHECK(sum == doctest::Approx(1));
}

TEST_CASE("A processor sees what was written, and what it forbids is not") {
  const auto fixed = [](const Table::Prefix&) { return std::vector<Real>{3, 2, 1, 0}; };
  std::vector<std::vector<std::int64_t>> seen;
  const LogitsProcessor no_repeat = [&](std::span<const std::int64_t> written, std::span<Real> scores) {
    seen.emplace_back(written.begin(), written.end());
    for (const std::int64_t token : written) scores[static_cast<std::size_t>(token)] = -infinity;
  };
  Table one(fixed), two(fixed), three(fixed), four(fixed);
  std::vector<std::pair<std::int64_t, std::int64_t>> told;
  const auto on_token = [&](std::int64_t b, std::int64_t token) { told.emplace_back(b, token); };
  CHECK(equal(greedy(one, {.max_length = 4, .process = no_repeat, .on_token = on_token}).tokens,
              Index({1, 4}, {0, 1, 2, 3})));
  CHECK(seen.back() == std::vector<std::int64_t>{0, 1, 2});
  CHECK(told == std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 0}, {0, 1}, {0, 2}, {0, 3}});
  CHECK_REFUSED(NumericError, greedy(two, {.max_length = 5, .process = no_repeat}), "greedy",
                "no token has a probability above 0 in row 0");
  CHECK(beam_search(three, {.max_length = 4, .num_beams = 2, .process = no_repeat})[0][0].tokens.size() == 4);
  for (int token = 0; token < 4; ++token) {
    const Index drawn = sample(four, {.max_length = 4, .seed = 3, .process = no_repeat}).tokens;
    CHECK(std::ranges::count(drawn, token) == 1);
  }
  const LogitsProcessor spoil = [](std::span<const std::int64_t>, std::span<Real> scores) { scores[0] = not_a_number; };
  CHECK_REFUSED(NumericError, greedy(two, {.process = spoil}), "greedy", "a processed score is NaN");
}

// ---- Refusals ----

TEST_CASE("Searches refuse options out of range before the model is asked") {
  Table table{worked};
  CHECK_REFUSED(ValueError, greedy(table, {.max_length = 0}), "greedy", "max_length 0 is not positive");
  CHECK_REFUSED(ValueError, beam_search(table, {.max_length = -1}), "beam_search", "max_length -1 is not positive");
  CHECK_REFUSED(ValueError, beam_search(table, {.num_beams = 0}), "beam_search", "num_beams 0 is not positive");
  CHECK_REFUSED(ValueError, beam_search(table, {.num_best = 0}), "beam_search", "num_best 0 is not positive");
  CHECK_REFUSED(ValueError, exhaustive_search(table, {.num_best = -2}), "exhaustive_search", "num_best -2");
  CHECK_REFUSED(ValueError, sample(table, {.temperature = 0}), "sample", "temperature 0", "greedy()");
  CHECK_REFUSED(ValueError, sample(table, {.top_k = 0}), "sample", "top_k 0 is not positive");
  CHECK_REFUSED(ValueError, sample(table, {.top_p = 0}), "sample", "top_p 0 is not in (0, 1]");
  CHECK_REFUSED(ValueError, sample(table, {.top_p = 1.5}), "sample", "top_p 1.5 is not in (0, 1]");
  CHECK_REFUSED(ShapeError, sampling_probabilities(Array({4}, Real(0)), {}), "sampling_probabilities",
                "needs (B, V), got [4]");
  CHECK_REFUSED(ValueError, sampling_probabilities(Array({1, 4}, Real(0)), {.top_k = 0}), "sampling_probabilities",
                "top_k 0 is not positive");
  CHECK_REFUSED(ValueError, greedy(table, {.max_length = 3, .min_length = 4}), "greedy",
                "min_length 4 is not in [0, 3]");
  CHECK_REFUSED(ValueError, beam_search(table, {.min_length = -1}), "beam_search", "min_length -1 is not in [0, 100]");
  for (const double number : {0., -1., double(infinity), std::nan("")}) {
    CHECK_REFUSED(ValueError, greedy(table, {.repetition_penalty = number}), "greedy",
                  str("repetition_penalty ", number, " is not positive and finite"));
    CHECK_REFUSED(ValueError, sample(table, {.temperature = number}), "sample",
                  str("temperature ", number, " is not positive and finite"));
  }
  for (const double number : {double(infinity), std::nan("")}) {
    CHECK_REFUSED(ValueError, beam_search(table, {.length_penalty = number}), "beam_search",
                  str("length_penalty ", number));
  }
  CHECK(table.steps.empty());
}

TEST_CASE("Searches take options at their bounds, and a vocabulary of one token") {
  const Table::Rows of_one = [](const Table::Prefix&) { return std::vector<Real>{0.5}; };
  Table one(of_one), drawn(of_one), two(worked);
  CHECK(equal(greedy(one, {.max_length = 2, .min_length = 2}).tokens, Index({1, 2}, {0, 0})));
  CHECK(equal(sample(drawn, {.max_length = 1, .top_k = 1, .top_p = 1}).tokens, Index({1, 1}, {0})));
  CHECK(equal(greedy(two, {.bos = bos, .eos = 0, .max_length = 1}).lengths, Index({1}, {0})));
}

TEST_CASE("Searches refuse an end outside the vocabulary and more beams than there are sequences") {
  Table table{worked};
  CHECK_REFUSED(ValueError, greedy(table, {.bos = bos, .eos = 4}), "greedy", "eos 4 is not in [0, 4)");
  CHECK_REFUSED(ValueError, beam_search(table, {.bos = bos, .eos = -1}), "beam_search", "eos -1 is not in [0, 4)");
  // The end at once, or one of three letters.
  CHECK_REFUSED(ValueError, beam_search(table, {.bos = bos, .eos = eos, .max_length = 1, .num_beams = 5}),
                "beam_search", "num_beams 5 of 4 possible sequences of at most 1 of 4 tokens");
  CHECK_REFUSED(LimitError, exhaustive_search(table, {.bos = bos, .eos = eos, .max_length = 4, .max_sequences = 120}),
                "exhaustive_search", "121 sequences of at most 4 of 4 tokens are more than 120");
  constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();
  CHECK_REFUSED(LimitError, exhaustive_search(table, {.bos = bos, .eos = eos, .max_length = 31, .max_sequences = any}),
                "exhaustive_search", "205891132094649 open sequences of 30 tokens do not fit in memory");
  CHECK_REFUSED(LimitError, exhaustive_search(table, {.bos = bos, .eos = eos, .max_length = 24, .max_sequences = any}),
                "exhaustive_search", "94143178827 open sequences of 23 tokens do not fit in memory");
}

TEST_CASE("Searches refuse a model whose steps have another shape, or no numbers") {
  struct Wrong : Stepper {
    Array logits{Shape{3, 4}, Real(0)};
    std::int64_t batch() const override { return 2; }
    Tensor step(const Index&) override { return logits; }
    void select(const Index&) override {}
  } wrong;
  CHECK_REFUSED(ShapeError, greedy(wrong, {}), "greedy", "needs a step that gives (2, V), got [3, 4]");
  CHECK_REFUSED(ShapeError, beam_search(wrong, {}), "beam_search", "needs a step that gives (2, V), got [3, 4]");
  wrong.logits = Array(Shape{2, 0});
  CHECK_REFUSED(ShapeError, greedy(wrong, {}), "greedy", "needs a step that gives (2, V), got [2, 0]");
  wrong.logits = Array({2, 3}, {0, 0, 0, 0, not_a_number, 0});
  CHECK_REFUSED(NumericError, sample(wrong, {}), "sample", "row 1 of a step's logits holds NaN");
  CHECK_REFUSED(NumericError, sampling_probabilities(wrong.logits, {.top_k = 2}), "sampling_probabilities",
                "row 1 holds NaN, or nothing above -inf");
  wrong.logits = Array({2, 3}, -infinity);
  CHECK_REFUSED(NumericError, greedy(wrong, {}), "greedy", "no token has a probability above 0 in row 0");
  CHECK_REFUSED(NumericError, sample(wrong, {}), "sample", "no token has a probability above 0 in row 0");
  CHECK_REFUSED(NumericError, beam_search(wrong, {}), "beam_search", "sequence 0", "probability above 0");
}

// ---- Models with a memory ----

const Index sources({3, 4}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 3, 1, 0}), source_lengths({3}, {4, 2, 3});

TEST_CASE("Beam scores of a transformer are those of one full pass, and the attention is that of the beam") {
  for (const NormOrder order : {NormOrder::post, NormOrder::pre}) {
    manual_seed(3);
    const EncoderDecoder model{
        root, 11, 7, {.dim = 8, .ffn = 12, .heads = 2, .layers = 2, .dropout = 0, .norm = order, .max_length = 20}};
    const std::int64_t begin = 1, end = 2;
    const Eval eval(model);
    const std::int64_t nodes = live_node_count();
    auto decoding = model.start(sources, source_lengths);
    std::vector<Hypotheses> found;
    std::vector<Array> self, cross;  // weights of the last block, step by step
    {
      AttentionRecorder recorder;
      found = beam_search(decoding, {.bos = begin, .eos = end, .max_length = 6, .num_beams = 4, .num_best = 4});
      for (const auto& [path, weights] : recorder.records()) {
        if (path == "decoder.blocks.1.self_attn") self.push_back(weights);
        if (path == "decoder.blocks.1.cross_attn") cross.push_back(weights);
      }
      CHECK(live_node_count() == nodes);
    }
    for (std::int64_t b = 0; b < 3; ++b) {
      CHECK(found[static_cast<std::size_t>(b)].size() == 4);
      for (const Hypothesis& one : found[static_cast<std::size_t>(b)]) {
        const std::vector<std::int64_t> tokens = written(one, end);
        const std::int64_t L = std::ssize(tokens);
        REQUIRE(std::ssize(one.rows) == L);
        AttentionRecorder recorder;
        const Tensor logits = model(sources[{slice(b, b + 1)}], source_lengths[{slice(b, b + 1)}],
                                    shift_right(Index({1, L}, tokens), begin));  // (1, L, V)
        const Array log_p = log_softmax(logits).value();
        double sum = 0;
        for (std::int64_t t = 0; t < L; ++t) {
          sum += log_p.at({0, t, tokens[static_cast<std::size_t>(t)]});
          const std::int64_t row = one.rows[static_cast<std::size_t>(t)];
          const Slice this_row = slice(row, row + 1), this_step = slice(t, t + 1);
          check_close(cross[static_cast<std::size_t>(t)][{this_row}],
                      recorder.last("decoder.blocks.1.cross_attn")[{_, _, this_step}]);
          check_close(self[static_cast<std::size_t>(t)][{this_row}],
                      recorder.last("decoder.blocks.1.self_attn")[{_, _, this_step, slice(0, t + 1)}]);
        }
        CHECK(one.log_p == doctest::Approx(sum).epsilon(1e-12));
        CHECK(one.score == doctest::Approx(sum / std::pow(L, 0.75)).epsilon(1e-12));
      }
    }
  }
}

TEST_CASE("A model in training writes without dropout, and is in training afterwards") {
  const auto check = [](const Module& model, const auto& start) {
    const auto written = [&] {
      auto decoding = start();
      return sample(decoding, {.max_length = 12, .seed = 3});
    };
    const RandomState random = random_state();
    const Decoded in_training = written();
    CHECK(random_state() == random);
    CHECK(model.training());
    model.apply([](const Module& part) { CHECK(part.training()); });
    const Eval eval(model);
    CHECK(equal(in_training.tokens, written().tokens));
  };
  const nn::Gpt gpt(root, {.vocabulary = 11, .context = 8, .dim = 8, .heads = 2, .layers = 2, .dropout = 0.5});
  check(gpt, [&] { return gpt.start(Index({1, 3}, {1, 2, 3})); });
  const Index source({2, 3}, {1, 2, 3, 4, 2, 0}), lengths({2}, {3, 2});
  const EncoderDecoder transformer(root, 7, 7, {.dim = 8, .ffn = 8, .heads = 2, .layers = 2, .dropout = 0.5});
  check(transformer, [&] { return transformer.start(source, lengths); });
  const Seq2Seq recurrent(root, 7, 7, {.embed = 8, .hidden = 8, .dropout = 0.5});
  check(recurrent, [&] { return recurrent.start(source, lengths); });
  const RandomState random = random_state();
  gpt.generate(Index({1, 3}, {1, 2, 3}), {.max_length = 3, .seed = 3});
  CHECK(random_state() == random);
}

}  // namespace
}  // namespace xgrad::testing
