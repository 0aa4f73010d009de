// Huge pages for arrays that are read often.
#pragma once

#include <cstddef>

#include "../base/config.h"

namespace xgrad::detail {

/// Moves long-lived memory, such as weights, to huge pages where it fills them, so that reading it needs fewer
/// translations of addresses. Addresses and content stay the same. Costs a copy. Does nothing on a system without free
/// huge pages (madvise(2), MADV_COLLAPSE, Linux 6.1).
void use_huge_pages(const void* numbers, std::size_t bytes) noexcept;

}  // namespace xgrad::detail
