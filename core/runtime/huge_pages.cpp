// The request to the system.
#include "huge_pages.h"

#include <sys/mman.h>

#include <cstdint>

namespace xgrad::detail {

void use_huge_pages(const void* numbers, std::size_t bytes) noexcept {
  constexpr std::uintptr_t page = std::uintptr_t{1} << 21;
  constexpr int collapse = 25;  // MADV_COLLAPSE, which older headers do not name
  const auto address = reinterpret_cast<std::uintptr_t>(numbers);
  const std::uintptr_t begin = (address + page - 1) / page * page, end = (address + bytes) / page * page;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, collapse);
}

}  // namespace xgrad::detail
