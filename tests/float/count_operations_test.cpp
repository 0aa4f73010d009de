// The savings of windows, counted in graphs of the full size.
#include <doctest/doctest.h>

#include <xgrad/ops/ops.h>

using namespace xgrad;

TEST_CASE("windows save 40,124,743,680 operations of global attention on a map of 112 x 112 with 128 channels") {
  // 4 hw C^2 + 2 (hw)^2 C against 4 hw C^2 + 2 M^2 hw C (Liu et al., "Swin Transformer", 2021).
  constexpr std::int64_t hw = 112 * 112, C = 128, M = 7;
  const Tensor x = randn({1, hw, C}), qkv = variable((randn({3 * C, C}) / 100).value()),
               out = variable((randn({C, C}) / 100).value());
  const auto attended = [&](const Tensor& tokens) { return linear(multi_head_attention(linear(tokens, qkv), 4), out); };
  const Tensor global = attended(x), windows = attended(reshape(x, {hw / (M * M), M * M, C}));
  CHECK(count_operations({global}) == 4 * hw * C * C + 2 * hw * hw * C);
  CHECK(count_operations({windows}) == 4 * hw * C * C + 2 * M * M * hw * C);
  CHECK(count_operations({global}) - count_operations({windows}) == 40'124'743'680);
}
