// A training loop in its steady state asks the operating system for nothing.
#include <doctest/doctest.h>

#include <xgrad/xgrad.h>

#include "support/pool.h"

namespace xgrad::testing {
namespace {

TEST_CASE("After two steps a transformer trains without a request to the system, with one thread and with two") {
  if (!pool_keeps_blocks()) return;
  const int usual = threads();
  for (const int count : {1, 2}) {
    set_threads(count);
    manual_seed(1);
    const nn::EncoderDecoder model{nn::root, 30, 40, {.dim = 32, .ffn = 64, .heads = 4, .layers = 2, .dropout = 0.1}};
    optim::AdamW adamw{model.parameters(), {.lr = 1e-3}};
    const Index source = randint(0, 30, {16, 10});
    const Index target = randint(0, 40, {16, 12});
    const Index lengths(Shape{16}, 7);
    const auto step = [&] {
      const Tensor loss = cross_entropy(model(source, lengths, target), target);
      adamw.step(grad(loss, model.parameters()));
      return loss.item();
    };
    for (int i = 0; i < (count == 1 ? 2 : 10); ++i) step();
    const PoolStats before = pool_stats();
    for (int i = 0; i < 50; ++i) step();
    CHECK(pool_stats().system_requests == before.system_requests);
    CHECK(pool_stats().bytes_in_use == before.bytes_in_use);
  }
  set_threads(usual);
}

}  // namespace
}  // namespace xgrad::testing
