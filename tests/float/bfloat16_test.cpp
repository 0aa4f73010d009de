// Tests of ops/products/matmul_precision.h: in medium precision every matrix product is one of rounded factors, whatever
// multiplies.

#include <cmath>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <limits>
#include <sstream>

#include <xgrad/core/base/text.h>
#include <xgrad/ops/ops.h>

#include "support/again.h"
#include "support/bfloat16.h"
#include "support/check.h"
#include "support/products.h"

using namespace xgrad;
using namespace xgrad::testing;

namespace {

bool in_plain_memory(const detail::BfloatUnit& unit) { return std::string_view(unit.name).starts_with("plain"); }

// f for each unit that can run here, in medium precision.
template <class F>
void with_each_unit(const F& f) {
  for (const detail::BfloatUnit* unit : bfloat_units()) {
    CAPTURE(unit->name);
    const WithUnit medium(unit);
    f(*unit);
  }
}

// y and its gradients in medium precision are those of the rounded inputs and the rounded seed in full precision: for
// an f whose gradients are products of inputs and seed alone.
void check_rounded(const Function& f, const std::vector<Array>& inputs, double tolerance = 4e-6) {
  Tensors exact, given;
  for (const Array& input : inputs) {
    given.push_back(variable(input));
    exact.push_back(variable(rounded(input)));
  }
  const Tensor y = f(exact);
  const Array seed = normal(y.shape(), 9);
  const Tensors expected = grad(y, exact, {.seed = Tensor(rounded(seed))});
  with_each_unit([&](const detail::BfloatUnit&) {
    const Tensor result = f(given);
    check_close(result.value(), y.value(), tolerance);
    const Tensors gradients = grad(result, given, {.seed = Tensor(seed)});
    for (std::size_t i = 0; i < given.size(); ++i) {
      CAPTURE(i);
      check_close(gradients[i].value(), expected[i].value(), tolerance);
    }
  });
}

}  // namespace

TEST_CASE("products in bfloat16 of all sizes and transpositions equal three loops, and write nothing else") {
  for (const detail::BfloatUnit* unit : bfloat_units()) {
    CAPTURE(unit->name);
    int number = 0;
    for (ProductCase test : product_cases()) {
      // Tiles in plain memory take a hundred times as long; five is prime to the four transpositions.
      if (in_plain_memory(*unit) && number++ % 5 != 0) continue;
      CAPTURE(test.sizes());
      test.p.rounding.unit = unit;
      CHECK(run_product(test).error < 3e-6);
    }
  }
}

TEST_CASE("numbers are rounded to nearest even while they are packed, and subnormal ones are 0") {
  std::vector<float> numbers;
  for (std::uint32_t upper = 0; upper < 0x10000; ++upper) {
    for (const std::uint32_t lower : {0x0000u, 0x0001u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
      numbers.push_back(std::bit_cast<float>(upper << 16 | lower));
    }
  }
  const auto count = static_cast<std::int64_t>(numbers.size());
  const float one = 1;
  std::vector<float> c(numbers.size());
  for (const detail::BfloatUnit* unit : bfloat_units()) {
    CAPTURE(unit->name);
    const auto check = [&](const char* how) {
      CAPTURE(how);
      int wrong = 0;
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        const float expected = rounded(numbers[i]);
        wrong += std::isnan(expected) ? !std::isnan(c[i]) : c[i] != expected;
      }
      CHECK(wrong == 0);
    };
    gemm({.m = count, .n = 1, .k = 1, .rounding = {unit}}, {numbers.data(), 1}, {&one, 1}, c.data(), 1);
    check("rows of the left factor");
    gemm({.m = count, .n = 1, .k = 1, .rounding = {unit}}, {numbers.data(), count, true}, {&one, 1}, c.data(), 1);
    check("columns of the left factor");
    gemm({.m = 1, .n = count, .k = 1, .rounding = {unit}}, {&one, 1}, {numbers.data(), count}, c.data(), count);
    check("rows of the right factor");
    gemm({.m = 1, .n = count, .k = 1, .rounding = {unit}}, {&one, 1}, {numbers.data(), 1, true}, c.data(), count);
    check("columns of the right factor");
  }
}

TEST_CASE("matmul, linear and einsum in medium precision, and their gradients, are those of rounded factors") {
  const auto product = [](const MatmulOptions& options) {
    return [options](const Tensors& x) { return matmul(x[0], x[1], options); };
  };
  check_rounded(product({}), {normal({13, 40}), normal({40, 33}, 2)});
  check_rounded(product({.transpose_a = true, .transpose_b = true}), {normal({40, 13}), normal({33, 40}, 2)});
  check_rounded(product({.transpose_b = true}), {normal({3, 1, 5, 40}), normal({2, 9, 40}, 2)});
  check_rounded(product({}), {normal({40}), normal({40}, 2)});
  check_rounded([](const Tensors& x) { return linear(x[0], x[1]); }, {normal({4, 9, 21}), normal({34, 21}, 2)});
  check_rounded(
      [](const Tensors& x) {
        return einsum("bij,bjk->bik", {x[0], x[1]});
      },
      {normal({2, 5, 7}), normal({2, 7, 3}, 2)});
}

TEST_CASE("a few rows times weights of a mebibyte are not rounded: their time is that of reading the weights") {
  const Array x = normal({16, 512}), w = normal({512, 512}, 2);
  const Tensor expected = linear(Tensor(x), Tensor(w));
  with_each_unit([&](const detail::BfloatUnit&) {
    check_close(linear(Tensor(x), Tensor(w)).value(), expected.value(), 0);
  });
}

TEST_CASE("a bias is not rounded") {
  const Array x = normal({5, 8}), w = normal({6, 8}, 2), bias = normal({6}, 3);
  const Tensor expected = linear(Tensor(rounded(x)), Tensor(rounded(w)), Tensor(bias));
  with_each_unit([&](const detail::BfloatUnit&) {
    check_close(linear(Tensor(x), Tensor(w), Tensor(bias)).value(), expected.value(), 1e-6);
  });
}

TEST_CASE("convolutions, attention and recurrences stay float in medium precision, and so do their gradients") {
  constexpr std::int64_t B = 18, T = 5, h = 9;
  struct Case {
    Function f;
    std::vector<Array> inputs;
  };
  const std::vector<Case> cases{
      {[](const Tensors& x) { return conv2d(x[0], x[1], {}, {.padding = 1}); },
       {normal({3, 17, 12, 11}), normal({16, 17, 3, 3}, 2)}},
      {[](const Tensors& x) { return scaled_dot_product_attention(x[0], x[1], x[2], {.mask = {.causal = true}}); },
       {normal({2, 3, 70, 64}), normal({2, 3, 70, 64}, 2), normal({2, 3, 70, 64}, 3)}},
      {[](const Tensors& x) { return lstm(x[0], x[1], x[2], x[3]).output; },
       {normal({B, T, 4 * h}), normal({4 * h, h}, 2), normal({B, h}, 3), normal({B, h}, 4)}}};
  for (std::size_t n = 0; n < cases.size(); ++n) {
    CAPTURE(n);
    const auto results = [&] {
      Tensors x;
      for (const Array& input : cases[n].inputs) x.push_back(variable(input));
      const Tensor y = cases[n].f(x);
      Tensors all{y.detach()};
      for (const Tensor& g : grad(y, x, {.seed = Tensor(normal(y.shape(), 9))})) all.push_back(g);
      return all;
    };
    const Tensors exact = results();
    with_each_unit([&](const detail::BfloatUnit&) {
      const Tensors got = results();
      for (std::size_t i = 0; i < exact.size(); ++i) CHECK(equal(got[i].value(), exact[i].value()));
    });
  }
}

// ---- Factors in several parts ---------------------------------------------------------------------------------------

namespace {

// A product on tiles, number by number in the order of the manual: of each step of 32 along the depth the products of
// parts, of each of these the even and the odd places, and their sum to what there is. Three parts start from zero after
// every block of the depth, the others from what is added to them.
struct TileOrder {
  const Gemm& p;
  std::vector<Bfloat16> left, right;  // of each number its parts
  std::int64_t depth, block;

  TileOrder(const Gemm& given, const Factor& a, const Factor& b) : p(given), depth(detail::padded_depth(p.k)) {
    const std::int64_t blocks = (p.k + 511) / 512;
    block = detail::padded_depth((p.k + blocks - 1) / blocks);
    const auto cut = [&](const Factor& factor, bool lines_are_rows, std::int64_t lines, std::vector<Bfloat16>& to) {
      for (std::int64_t line = 0; line < lines; ++line) {
        for (std::int64_t k = 0; k < depth; ++k) {
          const std::int64_t at = lines_are_rows ? line * factor.stride + k : k * factor.stride + line;
          for (const Bfloat16 part : parts_of(k < p.k ? factor.data[at] : 0, p.rounding.parts)) to.push_back(part);
        }
      }
    };
    cut(a, !a.transposed, p.m, left);
    cut(b, b.transposed, p.n, right);
  }

  float operator()(std::int64_t i, std::int64_t j, float c) const {
    static const std::vector<std::vector<std::pair<int, int>>> orders{
        {{0, 0}}, {{1, 0}, {0, 0}, {0, 1}}, {{2, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 2}, {0, 0}}};
    const int parts = p.rounding.parts;
    for (std::int64_t from = 0; from < p.k; from += block) {
      const float keep = from == 0 ? p.keep : 1, bias = from == 0 && p.bias ? p.bias[j] : 0;
      const bool starts = parts < 3 && p.scale == 1 && (keep == 0 || (keep == 1 && !(from == 0 && p.bias)));
      float sum = !starts ? 0 : keep == 0 ? bias : c;
      for (std::int64_t k = from; k < std::min(from + block, depth); k += 32) {
        for (const auto& [of_a, of_b] : orders[static_cast<std::size_t>(parts - 1)]) {
          float each[2] = {};
          for (std::int64_t l = 0; l < 32; ++l) {
            const auto number = [&](const std::vector<Bfloat16>& numbers, std::int64_t line, int part) {
              return flushed(number_of(numbers[static_cast<std::size_t>((line * depth + k + l) * 3 + part)]));
            };
            each[l % 2] = flushed(std::fma(number(left, i, of_a), number(right, j, of_b), each[l % 2]));
          }
          sum = flushed(flushed(sum) + flushed(each[0] + each[1]));
        }
      }
      if (starts) {
        c = sum;
        continue;
      }
      const float value = std::fma(p.scale, sum, bias);
      c = keep == 0 ? value : std::fma(keep, c, value);
    }
    return c;
  }
};

// Units that are tiles.
std::vector<const detail::BfloatUnit*> tile_units() {
  std::vector<const detail::BfloatUnit*> units = bfloat_units();
  std::erase_if(units, [](const detail::BfloatUnit* unit) { return unit->most_parts < 3; });
  return units;
}

}  // namespace

TEST_CASE("products on tiles in one, two and three parts have the bits of the manual's order") {
  for (const detail::BfloatUnit* unit : tile_units()) {
    for (int parts = 1; parts <= 3; ++parts) {
      int number = 0;
      for (const auto& sizes : std::vector<std::array<std::int64_t, 3>>{
               {1, 1, 1}, {17, 15, 33}, {32, 32, 64}, {40, 64, 31}, {33, 70, 600}, {64, 33, 1030}, {5, 3, 512}}) {
        const std::int64_t m = sizes[0], n = sizes[1], k = sizes[2];
        for (int kind = 0; kind < 8; ++kind, ++number) {
          if (in_plain_memory(*unit) && k > 100 && number % 7 > 1) continue;
          const bool ta = (kind & 1) != 0, tb = (kind & 2) != 0;
          const Array a = normal(ta ? Shape{k, m} : Shape{m, k}, 1), b = normal(tb ? Shape{n, k} : Shape{k, n}, 2);
          const Array bias = normal({n}, 3), before = normal({m, n}, 4);
          Gemm p{.m = m, .n = n, .k = k, .rounding = {unit, parts}};
          if (number % 3 == 0) p.bias = bias.data();
          if (number % 2 == 0) p.keep = number % 4 == 0 ? Real(1) : Real(-2);
          if (number % 5 == 0) p.scale = Real(0.5);
          const Factor left{a.data(), a.dim(1), ta}, right{b.data(), b.dim(1), tb};
          Array c = before;
          detail::bfloat_gemm(p, left, right, c.mutable_data(), n);
          const TileOrder order(p, left, right);
          int wrong = 0;
          for (std::int64_t i = 0; i < m; ++i) {
            for (std::int64_t j = 0; j < n; ++j) {
              wrong += std::bit_cast<std::uint32_t>(c.at({i, j})) !=
                       std::bit_cast<std::uint32_t>(order(i, j, before.at({i, j})));
            }
          }
          CAPTURE(str(unit->name, ", ", parts, " parts, ", m, " x ", k, " x ", n, ", kind ", kind));
          CHECK(wrong == 0);
        }
      }
    }
  }
}

TEST_CASE("products in bfloat16, in one part and in several, have the same bits for any number of threads") {
  for (const detail::BfloatUnit* unit : bfloat_units()) {
    CAPTURE(unit->name);
    for (const std::int64_t m : {65, 150, 1}) {
      check_threads({.p = {.m = m, .n = 500 / m * 10, .k = 600, .rounding = {unit}}, .with_bias = true});
    }
    if (unit->most_parts < 3) continue;
    check_threads({.p = {.m = 150, .n = 70, .k = 600, .rounding = {unit, 2}}, .with_bias = true});
    check_threads({.p = {.m = 260, .n = 256, .k = 257, .rounding = {unit, 3}}, .with_bias = true});
  }
}

TEST_CASE("three parts are as exact as float, at any depth and for numbers of any size, and two have 16 digits") {
  const auto positive = [](Shape shape, unsigned seed) {
    Array x = normal(shape, seed);
    for (std::int64_t i = 0; i < x.size(); ++i) x.mutable_data()[i] = std::abs(x.data()[i]);
    return x;
  };
  const auto wide = [](Shape shape, unsigned seed) {
    Array x = normal(shape, seed);
    const Array powers = normal(shape, seed + 10);
    for (std::int64_t i = 0; i < x.size(); ++i) x.mutable_data()[i] *= std::exp2(8 * powers.data()[i]);
    return x;
  };
  constexpr std::int64_t m = 64, n = 64;
  for (const std::int64_t k : {128, 512, 1024}) {
    for (const auto& draw : std::vector<std::function<Array(Shape, unsigned)>>{
             [](Shape shape, unsigned seed) { return normal(shape, seed); }, positive, wide}) {
      const Array a = draw({m, k}, 1), b = draw({k, n}, 2);
      const auto errors = [&](const auto& multiply, const Rounding& rounding) {
        std::vector<float> c(m * n);
        multiply({.m = m, .n = n, .k = k, .rounding = rounding}, {a.data(), k}, {b.data(), n}, c.data(), n);
        return errors_of(c, a, b);
      };
      const ProductErrors exact = errors(gemm, {}), three = errors(detail::bfloat_gemm, {&plain_tiles_unit, 3}),
                          two = errors(detail::bfloat_gemm, {&plain_tiles_unit, 2});
      CHECK(three.mean < exact.mean);
      CHECK(three.most < 1.2 * exact.most);
      CHECK(two.most < 0x1p9);
    }
  }
}

TEST_CASE("numbers that parts cannot hold are multiplied as float") {
  constexpr std::int64_t m = 256, n = 256, k = 256;
  const auto same = [&](float of_b, float of_a, float scale) {
    Array a = normal({m, k}), b = normal({k, n}, 2);
    for (std::int64_t i = 0; i < a.size(); ++i) a.mutable_data()[i] *= scale;
    a.mutable_data()[100] = of_a;
    b.mutable_data()[7] = of_b;
    const auto bits = [&](const Rounding& rounding) {
      std::vector<float> c(m * n);
      gemm({.m = m, .n = n, .k = k, .rounding = rounding}, {a.data(), k}, {b.data(), n}, c.data(), n);
      std::vector<std::uint32_t> result;
      for (const float x : c) result.push_back(std::bit_cast<std::uint32_t>(x));
      return result;
    };
    return bits({&plain_tiles_unit, 3}) == bits({}) && bits({&plain_tiles_unit, 2}) == bits({});
  };
  CHECK_FALSE(same(1, 1, 1));
  CHECK(same(1, std::numeric_limits<float>::infinity(), 1));
  CHECK(same(1, std::numeric_limits<float>::quiet_NaN(), 1));
  CHECK(same(1, std::numeric_limits<float>::max(), 1));
  CHECK(same(1, -0x1p127f, 1));
  CHECK_FALSE(same(1, 0x1p126f, 1));
  CHECK(same(0x1p127f, 1, 1));
  CHECK(same(1, 0, 0x1p-66f));
  CHECK_FALSE(same(1, 0, 0x1p-60f));
  CHECK(same(1, 0, 0));
}

TEST_CASE("highest and high precision cut the factors of matmul and of its gradients, of large sizes only") {
  using Sizes = std::array<std::int64_t, 3>;
  const auto results = [](const Sizes& sizes) {
    const auto [m, k, n] = sizes;
    const Tensors in{variable(normal({m, k})), variable(normal({k, n}, 2))};
    const Tensor y = matmul(in[0], in[1]);
    Tensors all{y.detach()};
    for (const Tensor& g : grad(y, in, {.seed = Tensor(normal(y.shape(), 5))})) all.push_back(g);
    return all;
  };
  const auto in_float = [&](const Sizes& sizes) {
    const WithUnit none(nullptr, MatmulPrecision::highest);
    return results(sizes);
  };
  struct Case {
    MatmulPrecision precision;
    Sizes large;
    std::vector<Sizes> small;
    double tolerance;
  };
  const std::vector<Case> cases{
      {MatmulPrecision::highest, {256, 256, 256}, {{255, 256, 256}, {256, 255, 256}, {256, 256, 255}}, 2e-6},
      {MatmulPrecision::high, {80, 70, 64}, {{63, 64, 64}, {64, 63, 64}, {64, 64, 63}}, 2e-4}};
  for (const Case& test : cases) {
    CAPTURE(static_cast<int>(test.precision));
    const Tensors exact = in_float(test.large);
    for (const detail::BfloatUnit* unit : tile_units()) {
      CAPTURE(unit->name);
      const WithUnit tiles(unit, test.precision);
      const Tensors got = results(test.large);
      for (std::size_t i = 0; i < exact.size(); ++i) {
        CAPTURE(i);
        CHECK_FALSE(equal(got[i].value(), exact[i].value()));
        check_close(got[i].value(), exact[i].value(), test.tolerance);
      }
    }
    for (const Sizes& sizes : test.small) {
      const Array expected = in_float(sizes)[0].value();
      const WithUnit tiles(&plain_tiles_unit, test.precision);
      CHECK(equal(results(sizes)[0].value(), expected));
    }
    if (const detail::BfloatUnit* const registers = detail::avx512_bf16_unit().unit) {
      const WithUnit only_one_part(registers, test.precision);
      CHECK(equal(results(test.large)[0].value(), exact[0].value()));
    }
  }
}

TEST_CASE("a unit that multiplies wrongly is found out before it is used") {
  for (const detail::BfloatUnit* unit : bfloat_units()) {
    CAPTURE(unit->name);
    CHECK(detail::multiplies_right(*unit));
  }
  detail::BfloatUnit wrong = plain_tiles_unit;
  wrong.multiply = [](const detail::BfloatBlock& block) {
    plain_tiles_unit.multiply(block);
    block.c[block.rows * block.c_stride - 1] += 1;
  };
  CHECK_FALSE(detail::multiplies_right(wrong));
  wrong = plain_tiles_unit;
  wrong.pack = [](const detail::BfloatPacking& packing) {
    plain_tiles_unit.pack(packing);
    if (packing.parts == 3) packing.to[0] = 0;
  };
  CHECK_FALSE(detail::multiplies_right(wrong));
}

TEST_CASE("the precision of products is chosen for the process") {
  set_matmul_precision(MatmulPrecision::highest);
  const Array a = normal({9, 9}), b = normal({9, 9}, 2);
  const Array exact = matmul(Tensor(a), Tensor(b)).value();
  set_matmul_precision(MatmulPrecision::high);
  CHECK(matmul_precision() == MatmulPrecision::high);
  CHECK(equal(matmul(Tensor(a), Tensor(b)).value(), exact));
  {
    const WithUnit medium(&plain_tiles_unit);
    CHECK(matmul_precision() == MatmulPrecision::medium);
    CHECK_FALSE(equal(matmul(Tensor(a), Tensor(b)).value(), exact));
    CHECK(error_of<ValueError>([] { set_matmul_precision(static_cast<MatmulPrecision>(7)); }) ==
          "set_matmul_precision: 7 is no MatmulPrecision");
    CHECK(matmul_precision() == MatmulPrecision::medium);
    CHECK(build_info().bfloat16 == "plain tiles");
    CHECK(to_string(build_info()).find(", bfloat16 by plain tiles, ") != std::string::npos);
  }
  CHECK(equal(matmul(Tensor(a), Tensor(b)).value(), exact));
}

TEST_CASE("without instructions for bfloat16 products stay float, which is said once") {
  if (!std::getenv("XGRAD_TEST_ROLE")) {
    const Again again =
        run_again("without instructions for bfloat16 products stay float, which is said once", "XGRAD_TEST_ROLE=child");
    CAPTURE(again.output);
    CHECK(again.status == 0);
    return;
  }
  CHECK(matmul_precision() == MatmulPrecision::highest);
  const Array a = normal({9, 9}), b = normal({9, 9}, 2);
  const Array exact = matmul(Tensor(a), Tensor(b)).value();
  std::ostringstream said;
  std::streambuf* const before = std::cerr.rdbuf(said.rdbuf());
  {
    const WithUnit none(nullptr);
    set_matmul_precision(MatmulPrecision::medium);
    CHECK(equal(matmul(Tensor(a), Tensor(b)).value(), exact));
    CHECK(build_info().bfloat16.empty());
    CHECK(to_string(build_info()).find(", no bfloat16 (" + build_info().bfloat16_missing + "), ") != std::string::npos);
  }
  std::cerr.rdbuf(before);
  const std::string why =
      detail::best_bfloat_unit().unit ? "it was switched off" : std::string(detail::best_bfloat_unit().missing);
  CHECK(!why.empty());
  CHECK(said.str() == "xgrad: products stay float, there is no bfloat16: " + why + "\n");
}
