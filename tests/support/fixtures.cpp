// Reading the stored files.
#include "support/fixtures.h"

#include <xgrad/core/text.h>

namespace xgrad::testing {

std::string fixture_path(std::string_view name) { return cat(XGRAD_TESTS_DIR "/fixtures/", name); }

}  // namespace xgrad::testing
