// The worked example of two heads: every intermediate has its name in the diagram, and the result is the matrix form's.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include <two_heads/pronoun.h>
#include <two_heads/worked.h>

namespace two_heads {
namespace {

TEST_CASE("Two heads, vector by vector, give what matrices give") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    manual_seed(seed);
    const Weights weights;
    const Array inputs = randn({positions, width}).value();
    const Steps steps = by_vectors(weights, inputs);
    CHECK(max(abs(MatrixForm(weights)(inputs) - transpose(concat(steps.b, 1)))).item() < 1e-5);
    for (const Tensors& row : steps.alpha) {
      for (const Tensor& alpha : row) CHECK(sum(alpha).item() == doctest::Approx(1));
    }
  }
}

TEST_CASE("Two heads: every intermediate stands in the diagram by its name") {
  manual_seed(1);
  const Steps steps = by_vectors(Weights(), randn({positions, width}).value());
  std::multiset<std::string> drawn;
  const GraphView view = GraphView::of(steps.b, {.depth = 1, .roll_up = false});
  for (const GraphVertex& vertex : view.vertices) drawn.insert(vertex.name);
  REQUIRE(view.frames.size() == 2);
  CHECK(view.frames[0].title == "head 1");
  CHECK(view.frames[1].title == "head 2");
  std::set<std::string> expected{"W_q", "W_k", "W_v", "W_o"};
  for (const char* matrix : {"W_q", "W_k", "W_v"}) expected.insert({str(matrix, "^1"), str(matrix, "^2")});
  for (const int i : {1, 2}) {
    for (const char* letter : {"a", "q", "k", "v", "b"}) expected.insert(label(letter, i));
    for (const int h : {1, 2}) {
      for (const char* letter : {"q", "k", "v", "alpha", "b"}) expected.insert(label(letter, i, h));
    }
  }
  CHECK(label("q", 1, 2) == "q^{1,2}");
  for (const std::string& name : expected) CHECK_MESSAGE(drawn.count(name) == 1, name);
}

TEST_CASE("Pronouns: the answers are words of the sentence, and unseen pairs of a being and a place are new") {
  manual_seed(1);
  for (const bool unseen : {false, true}) {
    CAPTURE(unseen);
    const Sentences all = sentences(200, unseen);
    bool cut = false;
    for (std::int64_t i = 0; i < 200; ++i) {
      const auto word = [&](std::int64_t t) { return vocabulary.token(all.ids.at({i, t})); };
      const auto number = [](const Tokens& of, const std::string& which) { return std::ranges::find(of, which) - of.begin(); };
      const bool being_first = number(beings, word(1)) < choices;
      const std::string being = word(being_first ? 1 : 5), place = word(being_first ? 5 : 1);
      REQUIRE(number(beings, being) < choices);
      REQUIRE(number(places, place) < choices);
      CHECK((number(beings, being) == number(places, place)) == unseen);
      CHECK(word(it) == "it");
      CHECK(vocabulary.token(all.answers.at({i, 0})) == (number(of_places, word(10)) < choices ? place : being));
      CHECK(all.answers.at({i, 1}) == all.ids.at({i, 10}));
      CHECK(all.answers.at({i, 2}) == all.ids.at({i, 3}));
      CHECK(all.read.at({i}) > it);
      cut |= all.read.at({i}) < length;
    }
    CHECK(cut == !unseen);
  }
}

TEST_CASE("Pronouns: the figure's weights are the softmax of its queries and keys, and words that are masked might as well be missing") {
  manual_seed(1);
  const Reader model;
  const NoGrad off;
  const Sentences one = sentences(1, true);
  Tokens words;
  for (const std::int64_t id : one.ids) words.push_back(vocabulary.token(id));
  for (const std::int64_t read : {it + 1, length}) {
    const kit::WordReading r = reading(model, Tokens(words.begin(), words.begin() + read));
    const Tensor scores = matmul(Tensor(r.k), unsqueeze(Tensor(r.q), 2)) / std::sqrt(Real(Reader::d));
    CHECK(max(abs(softmax(squeeze(scores, {2})) - r.weights)).item() < 1e-5);
    const Array whole = model(one.ids, Index(Shape{1}, read)).weights.value()[{0, _, 0}];
    CHECK(max(abs(Tensor(whole[{_, slice(0, read)}]) - r.weights)).item() < 1e-5);
    CHECK(sum(Tensor(whole[{_, slice(read, length)}])).item() == 0);
  }
}

TEST_CASE("Pronouns: heads learn to differ") {
  manual_seed(1);
  const Sentences some = sentences(64, true);
  const Reader model;
  optim::Adam adam{model.parameters(), {.lr = 0.01}};
  const Real before = mean(pointed(model(some.ids, some.read), some)).item();
  for (int step = 0; step < 60; ++step) adam.step(grad(loss(model, some), model.parameters()));
  const Real after = mean(pointed(model(some.ids, some.read), some)).item();
  CHECK(before < 0.2);
  CHECK(after > 0.6);
}

}  // namespace
}  // namespace two_heads
