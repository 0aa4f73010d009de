// What else happens when an error is thrown.
#pragma once

#include <string>
#include <string_view>

#include "config.h"

namespace xgrad::detail {

/// Called with the operation and the message of every error that fail() throws on this thread, before it is thrown;
/// nullptr: nothing is called.
using ErrorHook = void (*)(std::string_view op, const std::string& message);
inline thread_local constinit ErrorHook error_hook = nullptr;

/// Makes errors of this thread leave a drawing, if XGRAD_VIZ is in the environment. Defined in
/// core/diagram/render/error_drawing.cpp; the graph calls it before a thread's first node.
void draw_errors_if_asked();

}  // namespace xgrad::detail
