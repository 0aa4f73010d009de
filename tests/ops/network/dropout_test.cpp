// Dropout: which elements stay, the mean, the gradient.
#include <cmath>

#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/threads.h"

using namespace xgrad;
using namespace xgrad::testing;

TEST_CASE("dropout zeroes about the wanted fraction and keeps the mean") {
  const Tensor x = ones({100, 1000});
  for (const double p : {0.1, 0.5, 0.9}) {
    const Tensor y = dropout(x, p, {.seed = 3, .draw = 5});
    const auto zero = static_cast<double>(std::ranges::count(y.value(), Real(0)));
    CHECK(std::abs(zero / 1e5 - p) < 5e-3);  // more than three deviations
    CHECK(std::ranges::all_of(y.value(), [p](Real v) { return v == 0 || std::abs(v * (1 - p) - 1) < 1e-6; }));
  }
}

TEST_CASE("a dropout mask is a function of key and position alone") {
  const RandomKey key{.seed = 1, .draw = 2};
  const Tensor x = ones({123, 457});
  const Tensor y = dropout(x, 0.3, key);
  CHECK(equal(y.value(), dropout(x, 0.3, key).value()));
  CHECK(equal(flatten(y).value(), dropout(flatten(x), 0.3, key).value()));
  CHECK(equal(narrow(flatten(y), 0, 0, 1001).value(), dropout(ones({1001}), 0.3, key).value()));
  CHECK_FALSE(equal(y.value(), dropout(x, 0.3, {.seed = 1, .draw = 3}).value()));
  check_same_bits([&] { return dropout(x, 0.3, key); });
}

TEST_CASE("words of a draw in a row are the words one by one") {
  const RandomKey key{.seed = 0x123456789abcdef0, .draw = 0xfedcba9876543210};
  for (const std::uint64_t first :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{63}, std::uint64_t{0x3fffffff0}}) {
    std::array<std::uint32_t, 200> words;
    random_words(key, first, words);
    for (std::uint64_t i = 0; i < words.size(); ++i)
      CHECK(words[i] == random_words(key, (first + i) / 4)[(first + i) % 4]);
  }
}

TEST_CASE("dropout of all elements gives 0, in values and gradients, also of infinity and NaN") {
  const RandomKey key{.seed = 1, .draw = 2};
  const Tensor x = variable(Array({4}, {1, not_a_number, infinity, 2}));
  CHECK(equal(dropout(x, 1, key).value(), Array({4}, 0)));
  CHECK(equal(grad(dropout(x, 1, key), {x}, {.seed = ones({4})})[0].value(), Array({4}, 0)));
}

TEST_CASE("dropout refuses what is no probability") {
  for (const double p : {-0.1, 1.5, double(not_a_number)}) {
    CHECK_REFUSED(ValueError, dropout(ones({2}), p, {}), "dropout", str("probability ", p), "[0, 1]");
  }
}
