// Whether the pool keeps memory that is returned.
#pragma once

#include <doctest/doctest.h>

#include <xgrad/core/runtime/memory.h>

namespace xgrad::testing {

/// Under the address sanitizer every block comes from the system, so that it sees each one's birth and death.
inline bool pool_keeps_blocks() {
  pool_release(pool_allocate(64), 64);
  const auto before = pool_stats().system_requests;
  pool_release(pool_allocate(64), 64);
  const bool keeps = pool_stats().system_requests == before;
  if (!keeps) MESSAGE("skipped: the pool keeps no memory");
  return keeps;
}

}  // namespace xgrad::testing
