// The last clause of shape errors: what would fit, where the shapes show a usual mistake, and nothing where they do
// not.
#include "support/check.h"

#include <vector>

#include <xgrad/core/array/shape_hints.h>
#include <xgrad/nn/models/bert.h>
#include <xgrad/nn/models/resnet.h>
#include <xgrad/nn/models/vision_transformer.h>
#include <xgrad/ops/elementwise/fused.h>
#include <xgrad/ops/ops.h>

namespace xgrad::testing {
namespace {

// The message of the ShapeError that a call throws, to the last word.
#define CHECK_SAID(call, message) CHECK(error_of<ShapeError>([&] { call; }) == (message))

const std::string unsqueeze_hint = ": unsqueeze it, or reduce with {.keepdim = true}";

TEST_CASE("errors about shapes that cannot be broadcast say what would fit, if there is one thing") {
  struct Row {
    Shape a, b;
    std::string hint;
  };
  const std::vector<Row> rows{
      // An axis that was reduced and not kept, or an unsqueeze that was forgotten.
      {{8, 3}, {8}, "; [8] would fit as [8, 1]" + unsqueeze_hint},
      {{8}, {8, 3}, "; [8] would fit as [8, 1]" + unsqueeze_hint},
      {{2, 3, 4}, {2, 3}, "; [2, 3] would fit as [2, 3, 1]" + unsqueeze_hint},
      {{2, 3, 4}, {2, 4}, "; [2, 4] would fit as [2, 1, 4]" + unsqueeze_hint},
      {{8, 3, 32, 32}, {3}, "; [3] would fit as [1, 3, 1, 1]" + unsqueeze_hint},
      {{8, 3, 16, 32}, {8, 3}, "; [8, 3] would fit as [8, 3, 1, 1]" + unsqueeze_hint},
      {{8, 3, 5}, {8, 1}, "; [8, 1] would fit as [8, 1, 1]" + unsqueeze_hint},
      // The last two axes are exchanged.
      {{2, 3}, {3, 2}, "; [3, 2] would fit transposed"},
      {{5, 2, 3}, {5, 3, 2}, "; [5, 3, 2] would fit transposed"},
      // Two fit.
      {{3, 3, 2}, {3}, "; [3] would fit as [3, 1, 1] or [1, 3, 1]" + unsqueeze_hint},
      {{3, 2, 2}, {3, 2}, "; [3, 2] would fit as [3, 2, 1] or [3, 1, 2]" + unsqueeze_hint},
      // No hint: another size, none that fits, or more than two.
      {{3, 3, 3, 2}, {3}, ""},
      {{2, 3}, {4}, ""},
      {{2, 3}, {2, 4}, ""},
      {{2, 3}, {4, 3}, ""},
      {{2, 3, 4}, {3, 2}, ""},
      {{1, 3}, {2}, ""},
      {{5, 2, 3}, {4, 3, 2}, ""},
      {{3}, {2}, ""},
  };
  for (const Row& row : rows) {
    CAPTURE(str(row.a, row.b));
    const std::string said = error_of<ShapeError>([&] { broadcast_shapes("add", row.a, row.b); });
    CHECK(said.starts_with(str("add: cannot broadcast ", row.a, " with ", row.b, " at axis -")));
    const std::size_t remaining = said.find("; ");
    CHECK((remaining == std::string::npos ? "" : said.substr(remaining)) == row.hint);
    // The shape in the hint does fit.
    if (const std::size_t as = row.hint.find(" as ["); as != std::string::npos) {
      const Shape& small = row.a.rank() < row.b.rank() ? row.a : row.b;
      const Shape& large = row.a.rank() < row.b.rank() ? row.b : row.a;
      Shape shape;
      for (const char* at = row.hint.c_str() + as + 4; *at != ']';) {
        char* end = nullptr;
        shape.push_back(std::strtoll(at + 1, &end, 10));
        at = end;
      }
      CHECK(shape.numel() == small.numel());
      CHECK(broadcast_shapes("add", shape, large) == large);
    }
  }
}

TEST_CASE("errors of several operands list all of them, and hint only at what makes all of them fit") {
  struct Row {
    std::vector<Shape> shapes;
    std::string remaining;
  };
  const std::vector<Row> rows{
      {{{4, 3}, {4}, {}}, "-1, where p has 3 and q has 4; [4] would fit as [4, 1]" + unsqueeze_hint},
      {{{4}, {4, 3}, {4}}, "-1, where p has 4 and q has 3; [4] would fit as [4, 1]" + unsqueeze_hint},
      {{{4, 3}, {4}, {5}}, "-1, where p has 3 and q has 4"},  // [4, 1] would not fit [5]
      {{{1, 3}, {4, 1}, {4, 5}}, "-1, where p has 3 and r has 5"},
      {{{2, 3}, {3, 2}, {2, 3}}, "-1, where p has 3 and q has 2; [3, 2] would fit transposed"},
      {{{2, 3}, {3, 2}, {3, 1}}, "-1, where p has 3 and q has 2"},
      {{{2, 3}, {5, 3}, {3}}, "-2, where p has 2 and q has 5"},
  };
  for (const Row& row : rows) {
    const std::vector<NamedShape> named{{"p", row.shapes[0]}, {"q", row.shapes[1]}, {"r", row.shapes[2]}};
    CHECK_SAID(broadcast_shapes("f", named), str("f: cannot broadcast p ", row.shapes[0], ", q ", row.shapes[1], ", r ",
                                                 row.shapes[2], " at axis ", row.remaining));
  }
  CHECK(broadcast_shapes("f", {{"p", {4, 1}}, {"q", {}}, {"r", {1, 3}}}) == Shape{4, 3});
  CHECK(broadcast_shapes("f", std::vector<NamedShape>()) == Shape{});

  const Tensor x = ones({2, 3}), y = ones({2}), z = ones({2, 1});
  const std::string clash = " at axis -1, where ", fits = "; [2] would fit as [2, 1]" + unsqueeze_hint;
  CHECK_SAID(lerp(x, z, y), "lerp: cannot broadcast start [2, 3], end [2, 1], weight [2]" + clash +
                                "start has 3 and weight has 2" + fits);
  CHECK_SAID(clamp(x, y, z),
             "clamp: cannot broadcast x [2, 3], low [2], high [2, 1]" + clash + "x has 3 and low has 2" + fits);
  CHECK_SAID(triplet_margin_loss(x, z, y),
             "triplet_margin_loss: cannot broadcast anchor [2, 3], positive [2, 1], negative [2]" + clash +
                 "anchor has 3 and negative has 2" + fits);
  CHECK_SAID(concat({x, x, z}, 0),
             "concat: input 2 has shape [2, 1], input 0 has [2, 3], axis 0; all inputs: [[2, 3], [2, 3], [2, 1]]");
  CHECK_SAID(stack({x, y, x}), "stack: input 1 has shape [2], input 0 has [2, 3]; all inputs: [[2, 3], [2], [2, 3]]");
  Tensors many(10, y);
  many.push_back(z);
  CHECK_SAID(
      stack(many),
      "stack: input 10 has shape [2, 1], input 0 has [2]; all inputs: [[2], [2], [2], [2], [2], [2], [2], [2]] and 3 "
      "more");
}

TEST_CASE("a lambda of three arguments lists their shapes") {
  const auto zero = [](auto, auto, auto, auto) { return 0; };
  const auto f = [](auto a, auto b, auto c) { return a * b + c; };
  CHECK_SAID(elementwise("f", ones({2, 3}), Tensor(1), ones({2}), f, zero, zero, zero),
             "f: cannot broadcast a [2, 3], b [], c [2] at axis -1, where a has 3 and c has 2; "
             "[2] would fit as [2, 1]" + unsqueeze_hint);
}

TEST_CASE("x - mean(x) with an axis that was not kept gets an error that says so") {
  const Tensor x = normal({2, 3, 4});
  CHECK_SAID(x - mean(x, -1),
             "sub: cannot broadcast [2, 3, 4] with [2, 3] at axis -1; [2, 3] would fit as [2, 3, 1]" + unsqueeze_hint);
  CHECK_NOTHROW(x - mean(x, -1, {.keepdim = true}));
  CHECK_SAID(broadcast_to(ones({4}), {4, 5}),
             "broadcast_to: [4] cannot become [4, 5]; [4] would fit as [4, 1]" + unsqueeze_hint);
  CHECK_SAID(broadcast_to(ones({4, 5}), {4}), "broadcast_to: [4, 5] cannot become [4]");
}

TEST_CASE("factors that would fit transposed are named, those that would not are not") {
  struct Row {
    Shape a, b;
    MatmulOptions options;
    std::string hint;
  };
  const std::vector<Row> rows{
      {{8, 3}, {5, 3}, {}, "; did you mean {.transpose_b = true}?"},
      {{3, 8}, {3, 5}, {}, "; did you mean {.transpose_a = true}?"},
      {{2, 7, 3}, {5, 3}, {}, "; did you mean {.transpose_b = true}?"},
      {{8, 3}, {8, 3}, {}, "; did you mean {.transpose_b = true} or {.transpose_a = true}?"},
      {{3}, {5, 3}, {}, "; did you mean {.transpose_b = true}?"},
      {{3, 5}, {3}, {}, "; did you mean {.transpose_a = true}?"},
      {{8, 3}, {3, 5}, {.transpose_b = true}, "; did you mean without .transpose_b?"},
      {{8, 3}, {3, 5}, {.transpose_a = true}, "; did you mean without .transpose_a?"},
      {{8, 3}, {4, 5}, {}, ""},
      {{8, 3}, {5, 8}, {}, ""},
      {{3}, {4}, {}, ""},
      {{8, 3}, {4}, {}, ""},
  };
  for (const Row& row : rows) {
    CAPTURE(str(row.a, row.b));
    const std::string said = error_of<ShapeError>([&] { matmul(ones(row.a), ones(row.b), row.options); });
    CHECK(said.starts_with("matmul: inner sizes differ: "));
    const std::size_t remaining = said.find("; ");
    CHECK((remaining == std::string::npos ? "" : said.substr(remaining)) == row.hint);
    if (row.hint.find(" or ") != std::string::npos || row.hint.empty()) continue;
    MatmulOptions other = row.options;
    bool& changed = row.hint.find("transpose_a") != std::string::npos ? other.transpose_a : other.transpose_b;
    changed = !changed;
    CHECK_NOTHROW(matmul(ones(row.a), ones(row.b), other));
  }
  CHECK_SAID(linear(ones({4, 3}), ones({3, 5})),
             "linear: input [4, 3] does not fit weight [3, 5]; weight is (out, in), and would fit transposed");
  CHECK_SAID(linear(ones({4, 3}), ones({5, 4})), "linear: input [4, 3] does not fit weight [5, 4]");
}

TEST_CASE("a product of matrices that was written as one of elements is recognised") {
  const std::string product = "; the matrix product is matmul(a, b)";
  CHECK_SAID(ones({5, 3}) * ones({3, 4}), "mul: cannot broadcast [5, 3] with [3, 4] at axis -1" + product);
  CHECK_SAID(ones({2, 5, 3}) * ones({3, 4}), "mul: cannot broadcast [2, 5, 3] with [3, 4] at axis -1" + product);
  CHECK_SAID(ones({5, 3}) * ones({3, 5}),
             "mul: cannot broadcast [5, 3] with [3, 5] at axis -1; [3, 5] would fit transposed" + product);
  CHECK_SAID(ones({5, 3}) + ones({3, 4}), "add: cannot broadcast [5, 3] with [3, 4] at axis -1");
  CHECK_SAID(ones({5, 3}) * ones({4, 3}), "mul: cannot broadcast [5, 3] with [4, 3] at axis -2");
  CHECK_SAID(ones({5, 3}) * ones({4}), "mul: cannot broadcast [5, 3] with [4] at axis -1");
  CHECK_SAID(ones({3}) * ones({3, 4}),
             "mul: cannot broadcast [3] with [3, 4] at axis -1; [3] would fit as [3, 1]" + unsqueeze_hint);
}

TEST_CASE("matmul names the factors that have names") {
  const Tensor h = ones({2, 2}).named("h"), q = variable(Array({1, 3}, Real(1)), "q"), none = ones({4});
  CHECK_SAID(matmul(h, q), "matmul: inner sizes differ: 'h' [2, 2] @ 'q' [1, 3]");
  CHECK_SAID(matmul(none, q, {.transpose_b = true}), "matmul: inner sizes differ: [4] @ 'q' [1, 3]'");
  CHECK_SAID(matmul(h, ones({4, 5}), {.transpose_a = true}), "matmul: inner sizes differ: 'h' [2, 2]' @ [4, 5]");
  CHECK_SAID(matmul(none, h, {.transpose_a = true}), "matmul: a vector cannot be transposed: [4] @ 'h' [2, 2]");
  CHECK_SAID(matmul(Tensor(2).named("s"), h), "matmul: a factor has no axis: 's' [] @ 'h' [2, 2]");
  CHECK_SAID(matmul(ones({2, 3, 4}).named("a"), ones({5, 4, 3})),
             "matmul: 'a' [2, 3, 4] @ [5, 4, 3]: the axes in front of the matrices, [2] and [5], do not broadcast");
}

TEST_CASE("numbers without an axis of their own into a linear map of one input get an error that says so") {
  CHECK_SAID(linear(ones({5}), ones({8, 1})),
             "linear: input [5] does not fit weight [8, 1]; unsqueeze(x, -1) would fit, [5, 1]");
  CHECK_SAID(linear(ones({8}), ones({8, 1})),
             "linear: input [8] does not fit weight [8, 1]; unsqueeze(x, -1) would fit, [8, 1]");
  CHECK_SAID(linear(ones({5}), ones({8, 2})), "linear: input [5] does not fit weight [8, 2]");
  CHECK_SAID(linear(ones({5, 3}), ones({8, 1})), "linear: input [5, 3] does not fit weight [8, 1]");
  CHECK_SAID(linear(Tensor(2), ones({8, 1})), "linear: input [] does not fit weight [8, 1]");
}

TEST_CASE("volumes are refused as such") {
  const Tensor x = ones({1, 2, 3, 4, 4}), kernel = ones({2, 2, 3, 3});
  const std::string volumes = "got [1, 2, 3, 4, 4]; volumes are not offered";
  CHECK_SAID(conv2d(x, kernel), "conv2d: needs 4 axes, or 3 without a batch, " + volumes);
  CHECK_SAID(conv_transpose2d(x, kernel), "conv_transpose2d: needs 4 axes, or 3 without a batch, " + volumes);
  CHECK_SAID(max_pool2d(x, 2), "max_pool2d: needs (C, H, W) or (B, C, H, W), not empty, " + volumes);
  CHECK_SAID(adaptive_avg_pool2d(x, 2), "adaptive_avg_pool2d: needs (C, H, W) or (B, C, H, W), not empty, " + volumes);
  CHECK_SAID(interpolate(x, {.size = 2}), "interpolate: needs (B, C, H, W) with H and W above 0, " + volumes);
  CHECK_SAID(dropout2d(x, 0.5), "dropout2d: needs (B, C, H, W) or (C, H, W), " + volumes);
  CHECK_SAID(dropout2d(ones({2, 2}), 0.5), "dropout2d: needs (B, C, H, W) or (C, H, W), got [2, 2]");
}

TEST_CASE("attention with fewer heads of keys than of queries says which option that is") {
  const auto hint = [](int heads, int of_keys) {
    return str("; for ", of_keys, " heads of keys and values: multi_head_attention(q, k, v, ", heads,
               ", {.kv_heads = ", of_keys, "})");
  };
  const Tensor q = ones({2, 4, 5, 3}), k = ones({2, 2, 5, 3}), odd = ones({2, 3, 5, 3});
  const std::string differ = "scaled_dot_product_attention: leading axes differ: q [2, 4, 5, 3], k ";
  CHECK_SAID(scaled_dot_product_attention(q, k, k), differ + "[2, 2, 5, 3], v [2, 2, 5, 3]" + hint(4, 2));
  CHECK_SAID(scaled_dot_product_attention(q, odd, odd), differ + "[2, 3, 5, 3], v [2, 3, 5, 3]");
  CHECK_SAID(scaled_dot_product_attention(q, q, k), differ + "[2, 4, 5, 3], v [2, 2, 5, 3]");
  const Tensor wide = ones({2, 5, 8}), narrow = ones({2, 5, 4}), other = ones({2, 5, 3});
  const std::string width = "multi_head_attention: queries and keys differ in width: q [2, 5, 8], k ";
  CHECK_SAID(multi_head_attention(wide, narrow, narrow, 4), width + "[2, 5, 4], v [2, 5, 4]" + hint(4, 2));
  CHECK_SAID(multi_head_attention(wide, other, other, 4), width + "[2, 5, 3], v [2, 5, 3]");
  CHECK_SAID(multi_head_attention(wide, narrow, narrow, 1), width + "[2, 5, 4], v [2, 5, 4]");
  CHECK_NOTHROW(multi_head_attention(wide, narrow, narrow, 4, {.kv_heads = 2}));
}

TEST_CASE("a loss of shapes that differ in axes of size 1 says so") {
  const auto said = [](const Shape& a, const Shape& b) {
    return error_of<ShapeError>([&] { mse_loss(ones(a), ones(b)); });
  };
  const std::string ones_only = "; they differ in axes of size 1 only: squeeze or unsqueeze one of them";
  CHECK(said({8, 1}, {8}) == "mse_loss: shapes differ: [8, 1] and [8]" + ones_only);
  CHECK(said({8}, {1, 8}) == "mse_loss: shapes differ: [8] and [1, 8]" + ones_only);
  CHECK(said({8, 2}, {8}) == "mse_loss: shapes differ: [8, 2] and [8]");
  CHECK(said({8, 1}, {1, 8}) == "mse_loss: shapes differ: [8, 1] and [1, 8]");
}

TEST_CASE("a single sample without a batch axis is recognised, a batch of something else is not") {
  using detail::batch_axis_hint;
  CHECK(batch_axis_hint(Shape{3, 8, 8}, Shape{3, -1, -1}) == "; is the batch axis missing? [1, 3, 8, 8] would fit");
  CHECK(batch_axis_hint(Shape{4, 8, 8}, Shape{3, -1, -1}).empty());
  CHECK(batch_axis_hint(Shape{3, 8}, Shape{3, -1, -1}).empty());
  CHECK(batch_axis_hint(Shape{}, Shape{-1}).empty());
  const nn::Bert bert{nn::root, {.vocabulary = 5, .context = 8, .dim = 4, .heads = 2, .layers = 1, .ffn = 4}};
  CHECK_SAID(bert(Index({3}, 1)), "bert: needs ids (B, T), got [3]; is the batch axis missing? [1, 3] would fit");
  CHECK_SAID(bert(Index({3, 1, 1}, 1)), "bert: needs ids (B, T), got [3, 1, 1]");
  nn::ResNetOptions narrow = nn::resnet18();
  narrow.width = 4;
  const nn::ResNet resnet{nn::root, narrow};
  CHECK_SAID(resnet(zeros({3, 32, 32})),
             "resnet: needs (B, 3, H, W), got [3, 32, 32]; is the batch axis missing? [1, 3, 32, 32] would fit");
  CHECK_SAID(resnet(zeros({1, 4, 32, 32})), "resnet: needs (B, 3, H, W), got [1, 4, 32, 32]");
  const nn::VisionTransformer vit{
      nn::root, {.image = 8, .patch = 4, .channels = 1, .dim = 4, .heads = 2, .layers = 1, .classes = 2}};
  CHECK_SAID(
      vit(zeros({1, 8, 8})),
      "vision_transformer: needs (B, 1, 8, 8), got [1, 8, 8]; is the batch axis missing? [1, 1, 8, 8] would fit");
  CHECK_SAID(vit(zeros({3, 8, 8})), "vision_transformer: needs (B, 1, 8, 8), got [3, 8, 8]");
}

}  // namespace
}  // namespace xgrad::testing
