// Field attention: the shapes on the way, the offsets, and the layer against the library's attention.
#include <doctest/doctest.h>

#include <algorithm>

#include <field_attention/model.h>

namespace field_attention {
namespace {

const Index three = index({{0, 1}, {1, 1}, {1, 4}});

TEST_CASE("Fields have offsets of their own in one table") {
  CHECK(equal(table_rows(three), index({{0, 3}, {1, 3}, {1, 6}})));
}

TEST_CASE("Field attention: (3, 2, 6), heads (2, 3, 2, 3), scores (2, 3, 2, 2), output (3, 2, 6)") {
  const ClickModel model;
  CHECK(model.embedding(table_rows(three)).shape() == Shape{3, 2, 6});
  const Interaction i = model.interaction(three);
  for (const Tensor& heads : {i.queries, i.keys, i.values}) CHECK(heads.shape() == Shape{2, 3, 2, 3});
  CHECK(i.scores.shape() == Shape{2, 3, 2, 2});
  CHECK(i.output.shape() == Shape{3, 2, 6});
  CHECK(std::ranges::all_of(i.output.value(), [](Real y) { return y >= 0; }));
  CHECK(model(three).shape() == Shape{3});
}

TEST_CASE("Field attention is multi-head attention with scale 1, cut off at 0") {
  manual_seed(3);
  const InteractingLayer layer{nn::root, 6, 6, 2};
  const Tensor x = randn({3, 2, 6});
  const Tensor expected = relu(multi_head_attention(matmul(x, layer.w_query), matmul(x, layer.w_key),
                                                    matmul(x, layer.w_value), 2, {.scale = Real(1)}));
  CHECK(max(abs(layer(x).output - expected)).item() < 1e-5);
}

}  // namespace
}  // namespace field_attention
