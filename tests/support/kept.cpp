// Comparison with kept files.
#include "support/kept.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "support/files.h"
#include "support/fixtures.h"

namespace xgrad::testing {
namespace {

// A line around its first letter that differs.
std::string around(const std::string& line, std::size_t place) {
  const std::size_t begin = place > 60 ? place - 60 : 0;
  return (begin > 0 ? "..." : "") + line.substr(begin, 140) + (line.size() > begin + 140 ? "..." : "");
}

}  // namespace

void check_kept(const std::string& name, const std::string& text,
                const std::function<std::string(const std::string&)>& readable) {
  const std::string path = fixture_path("drawings/" + name);
  if (std::getenv("XGRAD_ACCEPT")) write_text(path, text);
  const std::string kept = read_text(path);
  std::istringstream found(readable ? readable(text) : text), expected(readable ? readable(kept) : kept);
  int line = 0, different = 0;
  for (std::string is, was; different < 5; ++line) {
    const bool more = static_cast<bool>(std::getline(found, is)), had = static_cast<bool>(std::getline(expected, was));
    if (!more && !had) break;
    if (more && had && is == was) continue;
    ++different;
    const auto place = static_cast<std::size_t>(std::ranges::mismatch(is, was).in1 - is.begin());
    FAIL_CHECK(path << ":" << line + 1 << ": " << (more ? around(is, place) : "(end)") << " where it was "
                    << (had ? around(was, place) : "(end)"));
  }
  CHECK(different == 0);
  if (different > 0) MESSAGE("if this is meant: tests/run --accept, and look at what has changed (git diff)");
}

}  // namespace xgrad::testing
