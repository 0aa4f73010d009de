// The worked example of two heads: every intermediate has its name in the diagram, and the result is the matrix form's.
#include <doctest/doctest.h>

#include <set>

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

}  // namespace
}  // namespace two_heads
