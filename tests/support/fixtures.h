// What PyTorch computed: the stored files that tests/fixtures/make_fixtures.py wrote.
#pragma once

#include <string>
#include <string_view>

namespace xgrad::testing {

/// The path of a file in tests/fixtures.
std::string fixture_path(std::string_view name);

}  // namespace xgrad::testing
