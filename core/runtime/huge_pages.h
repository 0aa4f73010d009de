// Huge pages for numbers that stay.
#pragma once

#include <cstddef>

#include "../base/config.h"

namespace xgrad::detail {

/// Moves memory that is kept and read often, such as weights, to huge pages where it fills them. Reading it then waits
/// for fewer translations of addresses. Numbers stay where they are and as they are; a system without huge pages, or
/// without a free one, changes nothing. Costs a copy. (madvise(2), MADV_COLLAPSE, from Linux 6.1 on.)
void use_huge_pages(const void* numbers, std::size_t bytes) noexcept;

}  // namespace xgrad::detail
