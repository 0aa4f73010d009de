// Field attention: fields and their offsets, the heads in numbers, the layer against the library's attention, and the picture.
#include <doctest/doctest.h>

#include <cmath>

#include <field_attention/picture.h>

namespace field_attention {
namespace {

const Index three = index({{0, 0}, {0, 1}, {1, 2}});

TEST_CASE("Fields of 2 and 3 categories have the offsets 0 and 2 in one table of 6 rows") {
  CHECK(field_sizes == std::array<std::int64_t, 2>{2, 3});
  CHECK(offsets == std::array<std::int64_t, 2>{0, 2});
  CHECK(ClickModel().embedding.weight.shape() == Shape{6, 6});
  CHECK(equal(table_rows(three), index({{0, 2}, {0, 3}, {1, 4}})));
  CHECK_THROWS_WITH_AS(table_rows(index({{0, 0}, {2, 0}})), "field_attention: category 2 of field 0, which has 2",
                       ValueError);
  CHECK_THROWS_WITH_AS(table_rows(index({{0, 3}})), "field_attention: category 3 of field 1, which has 3", ValueError);
  CHECK_THROWS_AS(table_rows(index({{-1, 0}})), ValueError);
}

TEST_CASE("The last row of the fields' table is never read") {
  const ClickModel model;
  const Index all = index({{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}});
  const Array g = grad(sum(square(model.embedding(table_rows(all)))), {model.embedding.weight})[0].value();  // (6, 6)
  for (std::int64_t row = 0; row < 6; ++row) {
    for (std::int64_t c = 0; c < 6; ++c) CHECK((g.at({row, c}) != 0) == (row < 5));
  }
}

TEST_CASE("Heads are split in numbers: a table of 0 ... 35 and the records (0,0), (0,1), (1,2)") {
  const Tensor table = reshape(to_real(arange(36)), {6, 6});
  const Tensor x = embedding(table, table_rows(three));
  const Tensor embedded = tensor({{{0, 1, 2, 3, 4, 5}, {12, 13, 14, 15, 16, 17}},
                                  {{0, 1, 2, 3, 4, 5}, {18, 19, 20, 21, 22, 23}},
                                  {{6, 7, 8, 9, 10, 11}, {24, 25, 26, 27, 28, 29}}});  // (3, 2, 6)
  CHECK(equal(x.value(), embedded.value()));
  const Tensor head1 = tensor({{{0, 1, 2}, {12, 13, 14}}, {{0, 1, 2}, {18, 19, 20}}, {{6, 7, 8}, {24, 25, 26}}});
  const Tensor head2 = tensor({{{3, 4, 5}, {15, 16, 17}}, {{3, 4, 5}, {21, 22, 23}}, {{9, 10, 11}, {27, 28, 29}}});
  CHECK(equal(split_heads(x, 2).value(), stack({head1, head2}).value()));  // (2, 3, 2, 3)
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

TEST_CASE("Field attention is multi-head attention, scaled, cut off at 0; its matrices are Xavier-uniform") {
  manual_seed(3);
  const InteractingLayer layer{nn::root, 6, 6, 2};
  const Tensor x = randn({3, 2, 6});
  const Tensor expected =
      relu(multi_head_attention(matmul(x, layer.w_query), matmul(x, layer.w_key), matmul(x, layer.w_value), 2));
  CHECK(max(abs(layer(x).output - expected)).item() < 1e-5);
  for (const Tensor& w : {layer.w_query, layer.w_key, layer.w_value}) {
    const Real largest = max(abs(w)).item();  // of 36 numbers below sqrt(6 / (6 + 6))
    CHECK(largest <= std::sqrt(0.5));
    CHECK(largest > 0.5);
  }
}

TEST_CASE("The picture of field attention is the heat map of its weights") {
  const Tensor weights = ClickModel().interaction(three).weights;
  const kit::HeatMaps maps = weight_maps(three, weights);
  REQUIRE(maps.panels.size() == 6);
  const std::vector<std::string> titles{"(0, 0), head 1", "(0, 1), head 1", "(1, 2), head 1",
                                        "(0, 0), head 2", "(0, 1), head 2", "(1, 2), head 2"};
  for (std::size_t i = 0; i < 6; ++i) {
    const auto h = static_cast<std::int64_t>(i / 3), b = static_cast<std::int64_t>(i % 3);
    CHECK(maps.panels[i].title == titles[i]);
    CHECK(maps.panels[i].values == kit::Values(weights.value()[{h, b}]));
    CHECK(maps.panels[i].values[0] + maps.panels[i].values[1] == doctest::Approx(1));
    CHECK(maps.panels[i].values[2] + maps.panels[i].values[3] == doctest::Approx(1));
  }
}

}  // namespace
}  // namespace field_attention
