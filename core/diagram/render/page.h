// The files of a diagram's page: core/diagram/page, put into the library by the build.
#pragma once

#include <string_view>

#include "../../base/config.h"

namespace xgrad::detail {

/// The text of a file of core/diagram/page, "page.css"; empty for another name.
std::string_view page_file(std::string_view name);

}  // namespace xgrad::detail
