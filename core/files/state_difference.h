// Differences between a state read from a file and what its reader needs: names, and the error that lists them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "../array/shape.h"

namespace xgrad {

struct StateDifference {
  std::vector<std::string> missing;     ///< needed, but not in the state
  std::vector<std::string> unexpected;  ///< in the state, but not needed
  std::vector<std::string> mismatched;  ///< in both with different shapes or kinds: `"w" [3, 2] for [2, 3]`

  bool empty() const { return missing.empty() && unexpected.empty() && mismatched.empty(); }
  void add_mismatch(std::string_view name, const Shape& given, const Shape& needed);
  void add_mismatch(std::string_view name, std::string_view what);
  /// Throws FormatError with the names, one a line (of a long list the first 20), unless there is no difference.
  /// `source` is the file that the state came from, if there is one.
  void refuse(std::string_view op, std::string_view source = {}) const;
};

}  // namespace xgrad
