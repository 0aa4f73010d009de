#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/fixtures.h"

namespace xgrad::testing {

TEST_CASE("arranging elements, and the gradients, equal PyTorch's") {
  check_fixtures("arranging",
                 {
                     {"unbind", [](const Case& c) { return unbind(c.x(), c.integer("axis")); }},
                     {"split_size",
                      [](const Case& c) { return split(c.x(), std::int64_t{c.integer("length")}, c.integer("axis")); }},
                     {"movedim", [](const Case& c) { return movedim(c.x(), c.axes("start"), c.axes("end")); }},
                     {"unflatten", [](const Case& c) { return unflatten(c.x(), c.integer("axis"), c.shape("sizes")); }},
                     {"meshgrid",
                      [](const Case& c) {
                        return meshgrid(c.xs(), {c.text("indexing") == "ij" ? MeshIndexing::ij : MeshIndexing::xy});
                      }},
                     {"diagonal", [](const Case& c) { return diagonal(c.x(), c.integer("offset")); }},
                     {"diag_embed", [](const Case& c) { return diag_embed(c.x(), c.integer("offset")); }},
                     {"diag", [](const Case& c) { return diag(c.x(), c.integer("offset")); }},
                 });
}

}  // namespace xgrad::testing
