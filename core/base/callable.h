// Functions that are given to the library to keep.
#pragma once

#include <type_traits>

#include "error.h"

namespace xgrad::detail {

/// Throws ValueError if `f` is a null pointer or holds no function, as an empty std::function: now, not when it is
/// called.
template <class F>
void refuse_empty(std::string_view op, const F& f) {
  bool empty = false;
  if constexpr (std::is_pointer_v<F> || std::is_member_pointer_v<F>) {
    empty = f == nullptr;
  } else if constexpr (requires { f.operator bool(); }) {
    empty = !f.operator bool();
  }
  if (empty) fail<ValueError>(op, "the function is empty");
}

}  // namespace xgrad::detail
