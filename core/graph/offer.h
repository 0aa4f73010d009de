// What modules let be seen beside their results.
#pragma once

#include <string>
#include <string_view>

#include "observe.h"
#include "record.h"

namespace xgrad {

/// For those who write modules: gives the observers that want `what` the array that value() returns. It is computed
/// without a graph, and only if there are any. `path` is the module's.
///
///     offer("gates", path(), [&] { return sigmoid(gate(x)).value(); });
template <class F>
void offer(std::string_view what, const std::string& path, const F& value) {
  if (Observer::watching()) [[unlikely]] {
    detail::Shown::offer(what, path, [&] {
      const NoGrad off;
      return value();
    });
  }
}

}  // namespace xgrad
