// Data sets, and how samples become batches.
#include <doctest/doctest.h>

#include <array>

#include <xgrad/kit/data/collate.h>
#include <xgrad/kit/data/dataset.h>
#include <xgrad/kit/data/shapes.h>
#include <xgrad/ops/ops.h>

namespace xgrad::kit {
namespace {

struct Squares {
  std::int64_t size() const { return 10; }
  std::pair<Tensor, std::int64_t> get(std::int64_t i) const { return {tensor({Real(i)}), i * i}; }
};

struct Labelled {
  Tensor image;
  std::int64_t label;
  bool flipped;
};
struct Nested {
  std::array<float, 2> place;
  std::pair<int, std::string> what;
};
struct Six {
  int a, b, c, d, e;
  Index f;
};

static_assert(Dataset<Squares> && !BatchedDataset<Squares>);
static_assert(Dataset<std::vector<int>>);
static_assert(Dataset<TensorDataset<Tensor, Index>> && BatchedDataset<TensorDataset<Tensor, Index>>);
static_assert(BatchedDataset<ImageSet> && !Dataset<ImageSet>);
static_assert(!Dataset<Tensor> && !Dataset<Index> && !Dataset<int>);

}  // namespace

TEST_CASE("anything with a size and samples by number is a data set") {
  CHECK(sample_of(Squares(), 3).second == 9);
  CHECK(sample_of(std::vector<int>{5, 6, 7}, 2) == 7);
}

TEST_CASE("a data set of arrays gives rows, one at a time or many") {
  const Tensor x = variable({{1, 2}, {3, 4}, {5, 6}});
  const TensorDataset data{x, index({7, 8, 9}), Mask({3}, {true, false, true}), Array({3, 1, 1}, {1, 2, 3})};
  CHECK(data.size() == 3);
  const auto [row, label, flag, array] = data.get(1);
  CHECK(equal(row.value(), Array({2}, {3, 4})));
  CHECK_FALSE(row.requires_grad());
  CHECK(label.item() == 8);
  CHECK_FALSE(flag.item());
  CHECK(array.shape() == Shape{1, 1});
  const auto [rows, labels, flags, arrays] = data.batch(index({2, 0}));
  CHECK(equal(rows.value(), Array({2, 2}, {5, 6, 1, 2})));
  CHECK(equal(labels, index({9, 7})));
  CHECK(equal(flags, Mask({2}, {true, true})));
  CHECK(equal(arrays, Array({2, 1, 1}, {3, 1})));
  CHECK_THROWS_AS(data.get(3), ValueError);
  CHECK_THROWS_AS(data.batch(index({3})), ValueError);
  CHECK_THROWS_WITH_AS((TensorDataset{x, index({1, 2})}),
                       "tensor_dataset: needs arrays with equally many rows, got [[3, 2], [2]]", ShapeError);
  CHECK_THROWS_AS((TensorDataset{Tensor(3)}), ShapeError);
}

TEST_CASE("a row that is not there is refused, also one counted from the end") {
  const TensorDataset points{tensor({{1, 2}, {3, 4}}), index({5, 6})};
  for (const std::int64_t i : {-1, -2, 2}) {
    CAPTURE(i);
    CHECK_THROWS_AS(points.get(i), xgrad::ValueError);
    CHECK_THROWS_AS(points.batch(index({0, i})), xgrad::ValueError);
  }
}

TEST_CASE("samples of every kind become a batch") {
  CHECK(equal(default_collate(std::vector<float>{1.5f, 2}).value(), Array({2}, {1.5f, 2})));
  CHECK(equal(default_collate(std::vector<double>{0.5}).value(), Array({1}, {0.5f})));
  CHECK(equal(default_collate(std::vector<int>{3, -4}), index({3, -4})));
  CHECK(equal(default_collate(std::vector<bool>{true, false}), Mask({2}, {true, false})));
  CHECK(equal(default_collate(Tensors{tensor({1, 2}), tensor({3, 4})}).value(), Array({2, 2}, {1, 2, 3, 4})));
  CHECK(equal(default_collate(std::vector<Index>{index({1}), index({2})}), index({{1}, {2}})));
  CHECK(default_collate(std::vector<std::string>{"a", "b"}) == std::vector<std::string>{"a", "b"});
  CHECK(equal(default_collate(std::vector<std::vector<int>>{{1, 2}, {3, 4}}), index({{1, 2}, {3, 4}})));
  CHECK(equal(default_collate(std::vector<std::vector<double>>{{1}, {3}}).value(), Array({2, 1}, {1, 3})));

  const auto [numbers, words] = default_collate(std::vector<std::pair<int, std::string>>{{1, "one"}, {2, "two"}});
  CHECK(equal(numbers, index({1, 2})));
  CHECK(words[1] == "two");
  const auto [images, labels, flipped] =
      default_collate(std::vector<Labelled>{{tensor({1, 2}), 7, true}, {tensor({3, 4}), 8, false}});
  CHECK(images.shape() == Shape{2, 2});
  CHECK(equal(labels, index({7, 8})));
  CHECK(equal(flipped, Mask({2}, {true, false})));
  const auto [places, what] = default_collate(std::vector<Nested>{{{1, 2}, {3, "three"}}});
  CHECK(equal(places.value(), Array({1, 2}, {1, 2})));
  CHECK(equal(std::get<0>(what), index({3})));
  const auto [a, b, c, d, e, f] = default_collate(std::vector<Six>{{1, 2, 3, 4, 5, index({6, 7})}});
  CHECK(equal(concat(std::vector<Index>{a, b, c, d, e}), index({1, 2, 3, 4, 5})));
  CHECK(f.shape() == Shape{1, 2});
}

TEST_CASE("samples that do not fit together are named") {
  CHECK_THROWS_WITH_AS(default_collate(Tensors{tensor({1, 2}), tensor({1, 2}), tensor({1})}),
                       "collate: sample 2 of the batch is [1], sample 0 [2]; a function that makes the batch can pad "
                       "them",
                       ShapeError);
  CHECK_THROWS_AS(default_collate(std::vector<std::vector<int>>{{1, 2}, {3}}), ShapeError);
  CHECK_THROWS_WITH_AS(default_collate(Tensors{}), "collate: a batch needs samples", ValueError);
}

}  // namespace xgrad::kit
