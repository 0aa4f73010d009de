// Files that are kept: drawings and texts that a person has looked at, in tests/fixtures/drawings. After a change that
// is meant, write them again and look at each:
//
//     tests/run --accept
#pragma once

#include <functional>
#include <string>

namespace xgrad::testing {

/// Fails the test case at each line of a text that differs from the kept file of this name, at the first five of them.
/// Before they are compared, both texts go through `readable`. The name of the test case ends with "looks as it did".
void check_kept(const std::string& name, const std::string& text,
                const std::function<std::string(const std::string&)>& readable = {});

}  // namespace xgrad::testing
