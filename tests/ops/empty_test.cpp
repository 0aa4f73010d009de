// Every operation of the catalogue: its value, gradients and second gradients, also at shapes without elements, without axes,
// and of size 1. A test case for each row; then what has other ranks than matrices.
#include "support/orders.h"
#include "support/rows.h"

#include <set>

#include <xgrad/ops/ops.h>

namespace xgrad::testing {
namespace {

// Where its inputs are matrices, at matrices without elements and with few, too; functions of elements and losses also with other
// numbers of axes.
void check_operation(const Call& row) {
  static const std::vector<Call> small = [] {
    std::vector<Call> all;
    for (const auto& [rows, columns] : {std::pair{0, 3}, {3, 0}, {0, 0}, {1, 1}, {1, 3}, {3, 1}}) {
      for (const Call& call : matrix_calls(rows, columns)) all.push_back(call);
    }
    for (const Shape& shape : {Shape{}, {0}, {1}, {2, 0, 3}}) {
      for (const auto& calls : {elementwise_calls(shape), loss_calls(shape)}) all.insert(all.end(), calls.begin(), calls.end());
    }
    return all;
  }();
  // At numbers of the catalogue these have a kink, or are near a pole: differences stand in numerics_test and in the fixtures.
  static const std::set<std::string> rough{"floor", "ceil", "trunc", "frac", "hardtanh", "tan", "pow", "solve_triangular"};
  const auto check = [&](const Call& call) {
    if (!rough.contains(call.name)) return check_call(call);
    const Tensors xs = call.leaves();
    check_all_orders([&] { return call.run(xs); }, xs, call.result);
  };
  check(row);
  for (const Call& call : small) {
    if (call.name == row.name) check(call);
  }
}

std::vector<Call> rows_of_operations() { return all_calls(3, 4); }

const RowCases<Call, rows_of_operations, check_operation> operation_cases("operation", __FILE__, __LINE__);

// Shapes of two inputs and of the result.
struct Pair {
  Shape a, b, y;
};

TEST_CASE("small shapes: arithmetic with broadcasting") {
  for (const auto& [a, b, y] : std::vector<Pair>{{{0}, {}, {0}},
                                                 {{0}, {1}, {0}},
                                                 {{1}, {1, 1}, {1, 1}},
                                                 {{}, {1, 1}, {1, 1}},
                                                 {{0, 3}, {3}, {0, 3}},
                                                 {{3, 0}, {3, 1}, {3, 0}},
                                                 {{2, 0}, {1, 0}, {2, 0}},
                                                 {{0, 1}, {1, 3}, {0, 3}},
                                                 {{0, 0}, {1, 1}, {0, 0}},
                                                 {{2, 0, 3}, {2, 1, 1}, {2, 0, 3}}}) {
    for (const auto& calls : {elementwise_calls(a, b, y), elementwise_calls(b, a, y)}) {
      for (const Call& call : calls) {
        if (call.inputs.size() > 1) check_call(call);
      }
    }
  }
}

TEST_CASE("small shapes: reductions") {
  struct Case {
    Shape shape;
    AxisSet axis;
    Shape kept, dropped;
  };
  for (const Case& each : std::vector<Case>{{{}, {}, {}, {}},
                                            {{0}, 0, {1}, {}},
                                            {{0}, Axes{}, {0}, {0}},
                                            {{2, 0, 3}, {0, 2}, {1, 0, 1}, {0}},
                                            {{2, 0, 3}, 1, {2, 1, 3}, {2, 3}},
                                            {{1, 2, 1}, {0, 2}, {1, 2, 1}, {2}}}) {
    const auto &shape = each.shape, &kept = each.kept, &dropped = each.dropped;
    const auto& axis = each.axis;
    const bool nothing = dropped.numel() > 0 && shape.numel() == 0;
    for (const bool keepdim : {false, true}) {
      const Shape& to = keepdim ? kept : dropped;
      const KeepdimOptions options{.keepdim = keepdim};
      check_shapes("sum", {shape}, to, [&](const Tensors& x) { return sum(x[0], axis, options); });
      check_shapes("prod", {shape}, to, [&](const Tensors& x) { return prod(x[0], axis, options); });
      if (nothing) {
        const Tensor x = variable(Array(shape));
        CHECK(equal(sum(x, axis, options).value(), Array(to, Real(0))));
        CHECK(equal(prod(x, axis, options).value(), Array(to, Real(1))));
        CHECK(equal(logsumexp(x, axis, options).value(), Array(to, -infinity)));
        check_all_orders([&] { return logsumexp(x, axis, options); }, {x}, to);
      } else {
        check_shapes("logsumexp", {shape}, to, [&](const Tensors& x) { return logsumexp(x[0], axis, options); });
      }
      const bool empty = std::ranges::any_of(axis.resolve("test", shape.rank()), [&](int i) { return shape[i] == 0; });
      const auto check = [&](const char* name, const Function& f) {
        if (empty) {
          CAPTURE(name);
          error_of<ValueError>([&] { f({variable(Array(shape))}); });
        } else {
          check_shapes(name, {shape}, to, f);
        }
      };
      check("mean", [&](const Tensors& x) { return mean(x[0], axis, options); });
      check("max", [&](const Tensors& x) { return max(x[0], axis, options); });
      check("min", [&](const Tensors& x) { return min(x[0], axis, options); });
      check("var", [&](const Tensors& x) { return var(x[0], axis, {.keepdim = keepdim, .correction = 0}); });
    }
  }
}

TEST_CASE("small shapes: normalisation") {
  struct Normal {
    Shape x, normalized;
  };
  for (const Normal& each :
       std::vector<Normal>{{{2, 0, 3}, {3}}, {{0, 2, 3}, {2, 3}}, {{1}, {1}}, {{1, 3}, {1, 3}}, {{3}, {3}}}) {
    check_shapes("layer_norm", {each.x, each.normalized, each.normalized}, each.x,
                 [](const Tensors& x) { return layer_norm(x[0], x[1], x[2]); });
  }
}

TEST_CASE("small shapes: shapes") {
  const auto moves = [](const char* name, const Shape& from, const Shape& to,
                        const std::function<Tensor(const Tensor&)>& f) {
    check_shapes(name, {from}, to, [&](const Tensors& x) { return f(x[0]); });
  };
  moves("reshape", {0, 3}, {0}, [](const Tensor& x) { return reshape(x, {-1}); });
  moves("flatten", {}, {1}, [](const Tensor& x) { return flatten(x); });
  moves("flatten", {2, 0, 3}, {0}, [](const Tensor& x) { return flatten(x); });
  moves("flatten", {0, 2, 3}, {0, 6}, [](const Tensor& x) { return flatten(x, 1); });
  moves("squeeze", {}, {}, [](const Tensor& x) { return squeeze(x); });
  moves("unsqueeze", {}, {1}, [](const Tensor& x) { return unsqueeze(x, 0); });
  moves("permute", {}, {}, [](const Tensor& x) { return permute(x, {}); });
  moves("broadcast_to", {}, {0}, [](const Tensor& x) { return broadcast_to(x, {0}); });
  moves("broadcast_to", {1}, {0, 3}, [](const Tensor& x) { return broadcast_to(x, {0, 3}); });
  moves("slice", {}, {}, [](const Tensor& x) { return x[{ellipsis}]; });
  moves("slice", {}, {1}, [](const Tensor& x) { return x[{new_axis}]; });
  moves("slice", {1}, {}, [](const Tensor& x) { return x[{0}]; });
  moves("place", {}, {1}, [](const Tensor& x) { return place(x, {0}, {1}); });
  moves("chunk", {0}, {0}, [](const Tensor& x) { return chunk(x, 2)[1]; });
  moves("pad", {}, {}, [](const Tensor& x) { return pad(x, {}); });
  moves("flip", {}, {}, [](const Tensor& x) { return flip(x, {}); });
  moves("tile", {}, {}, [](const Tensor& x) { return tile(x, {}); });
  moves("tile", {}, {2}, [](const Tensor& x) { return tile(x, {2}); });
  moves("tile", {3}, {0, 6}, [](const Tensor& x) { return tile(x, {0, 2}); });
  moves("tril", {0, 2, 2}, {0, 2, 2}, [](const Tensor& x) { return tril(x); });
  check_shapes("concat", {{0, 2}, {1, 2}}, {1, 2}, [](const Tensors& x) { return concat({x[0], x[1]}); });
}

TEST_CASE("small shapes: choosing by index") {
  struct Gather {
    Shape x;
    int axis;
    Shape index;
  };
  for (const Gather& each : std::vector<Gather>{
           {{3}, 0, {0}}, {{0, 3}, 1, {0, 5}}, {{3, 2}, 1, {3, 0}}, {{3, 2}, 0, {0, 2}}, {{3, 2}, 0, {4, 0}}}) {
    check_shapes("gather", {each.x}, each.index,
                 [&](const Tensors& u) { return gather(u[0], each.axis, Index(each.index, 0)); });
    check_shapes("scatter_add", {each.x, each.index}, each.x,
                 [&](const Tensors& u) { return scatter_add(u[0], each.axis, Index(each.index, 0), u[1]); });
  }
}

TEST_CASE("small shapes: products") {
  for (const Pair& each : std::vector<Pair>{{{0, 3}, {3, 2}, {0, 2}},
                                            {{2, 0}, {0, 3}, {2, 3}},
                                            {{2, 3}, {3, 0}, {2, 0}},
                                            {{0, 0}, {0, 0}, {0, 0}},
                                            {{1, 1}, {1, 1}, {1, 1}},
                                            {{0, 2, 3}, {0, 3, 4}, {0, 2, 4}},
                                            {{0, 2, 3}, {3, 4}, {0, 2, 4}},
                                            {{2, 3}, {0, 3, 4}, {0, 2, 4}},
                                            {{0, 1, 2, 3}, {5, 3, 4}, {0, 5, 2, 4}},
                                            {{2, 4, 0}, {2, 0, 3}, {2, 4, 3}},
                                            {{2, 0, 3}, {3, 4}, {2, 0, 4}},
                                            {{1, 1, 1}, {1, 1}, {1, 1, 1}},
                                            {{0}, {0}, {}},
                                            {{1}, {1}, {}},
                                            {{3}, {3, 0}, {0}},
                                            {{0}, {0, 3}, {3}},
                                            {{0, 3}, {3}, {0}},
                                            {{3, 0}, {0}, {3}}}) {
    check_shapes("matmul", {each.a, each.b}, each.y, [](const Tensors& x) { return matmul(x[0], x[1]); });
    if (each.a.rank() < 2 || each.b.rank() < 2) continue;
    const auto turned = [](Shape shape) {
      std::swap(shape[shape.rank() - 1], shape[shape.rank() - 2]);
      return shape;
    };
    check_shapes("a'b", {turned(each.a), each.b}, each.y,
                 [](const Tensors& x) { return matmul(x[0], x[1], {.transpose_a = true}); });
    check_shapes("ab'", {each.a, turned(each.b)}, each.y,
                 [](const Tensors& x) { return matmul(x[0], x[1], {.transpose_b = true}); });
    check_shapes("a'b'", {turned(each.a), turned(each.b)}, each.y,
                 [](const Tensors& x) { return matmul(x[0], x[1], {.transpose_a = true, .transpose_b = true}); });
  }
  error_of<ShapeError>([] { matmul(Tensor(1), Tensor(2)); });
  for (const Pair& each : std::vector<Pair>{{{0, 3}, {2, 3}, {0, 2}},
                                            {{3}, {2, 3}, {2}},
                                            {{2, 0, 3}, {2, 3}, {2, 0, 2}},
                                            {{4, 0}, {2, 0}, {4, 2}},
                                            {{4, 3}, {0, 3}, {4, 0}},
                                            {{0}, {0, 0}, {0}},
                                            {{1}, {1, 1}, {1}}}) {
    check_shapes("linear", {each.a, each.b}, each.y, [](const Tensors& u) { return linear(u[0], u[1]); });
    check_shapes("linear", {each.a, each.b, {each.b[0]}}, each.y,
                 [](const Tensors& u) { return linear(u[0], u[1], u[2]); });
  }
  check_shapes("dot", {{0}, {0}}, {}, [](const Tensors& x) { return dot(x[0], x[1]); });
  check_shapes("outer", {{0}, {3}}, {0, 3}, [](const Tensors& x) { return outer(x[0], x[1]); });
  check_shapes("tensordot", {{}, {}}, {}, [](const Tensors& x) { return tensordot(x[0], x[1], 0); });
  check_shapes("tensordot", {{0}, {2}}, {0, 2}, [](const Tensors& x) { return tensordot(x[0], x[1], 0); });
  check_shapes("tensordot", {{3, 0}, {3, 0}}, {}, [](const Tensors& x) { return tensordot(x[0], x[1], 2); });
  check_shapes("tensordot", {{3, 0}, {0, 2}}, {3, 2}, [](const Tensors& x) { return tensordot(x[0], x[1], 1); });
  check_shapes("einsum", {{2, 0}, {0, 3}}, {2, 3}, [](const Tensors& x) { return einsum("ij,jk->ik", {x[0], x[1]}); });
  check_shapes("einsum", {{0, 2, 3}, {0, 3, 4}}, {0, 2, 4}, [](const Tensors& x) {
    return einsum("bij,bjk->bik", {x[0], x[1]});
  });
  check_shapes("einsum", {{0, 0}}, {}, [](const Tensors& x) { return einsum("ii->", {x[0]}); });
  check_shapes("einsum", {{1, 1}}, {1}, [](const Tensors& x) { return einsum("ii->i", {x[0]}); });
  check_shapes("einsum", {{2, 0}}, {2}, [](const Tensors& x) { return einsum("...i->...", {x[0]}); });
  check_shapes("einsum", {{}, {}}, {}, [](const Tensors& x) { return einsum(",->", {x[0], x[1]}); });
}

TEST_CASE("small shapes: recurrences") {
  struct Sizes {
    std::int64_t B, T, h;
  };
  for (const Sizes& each : std::vector<Sizes>{{0, 2, 3}, {2, 1, 0}, {1, 1, 1}, {0, 1, 0}}) {
    const std::int64_t B = each.B, T = each.T, h = each.h;
    const Shape state{B, h}, y{B, T, h};
    std::vector<RecurrenceOptions> all{{}, {.reverse = true}, {.lengths = Index(Shape{B}, 1)}};
    for (const RecurrenceOptions& options : all) {
      for (const Squash f : {Squash::tanh, Squash::relu}) {
        check_shapes("rnn", {{B, T, h}, {h, h}, state}, y,
                     [&](const Tensors& x) { return rnn(x[0], x[1], x[2], f, options).output; });
        check_shapes("rnn", {{B, T, h}, {h, h}, state}, state,
                     [&](const Tensors& x) { return rnn(x[0], x[1], x[2], f, options).h; });
      }
      const std::vector<Shape> of_lstm{{B, T, 4 * h}, {4 * h, h}, state, state};
      check_shapes("lstm", of_lstm, y, [&](const Tensors& x) { return lstm(x[0], x[1], x[2], x[3], options).output; });
      check_shapes("lstm", of_lstm, state, [&](const Tensors& x) { return lstm(x[0], x[1], x[2], x[3], options).c; });
      check_shapes("gru", {{B, T, 3 * h}, {3 * h, h}, {3 * h}, state}, y,
                   [&](const Tensors& x) { return gru(x[0], x[1], x[2], x[3], options).output; });
    }
    error_of<ShapeError>([&] { rnn(zeros({B, 0, h}), zeros({h, h}), zeros({B, h}), Squash::tanh); });
  }
}

}  // namespace
}  // namespace xgrad::testing
