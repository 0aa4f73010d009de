// Memory that runs out when a test wants it to. Every request of this program goes through failing.cpp: operator new,
// and, because its pool keeps no blocks, every request for an array or a node.
#pragma once

#include <cstdint>

namespace xgrad::testing {

/// While it lives, the requests of all threads are counted, and one of them or all from that one on are refused.
class FailingMemory {
 public:
  enum class Refuse { one, rest };

  /// `number` counts from 1.
  FailingMemory(std::int64_t number, Refuse what);
  ~FailingMemory();
  FailingMemory(const FailingMemory&) = delete;
  FailingMemory& operator=(const FailingMemory&) = delete;

  /// Whether the request of that number has been made.
  bool reached() const;
};

/// How many blocks are held now.
std::int64_t blocks_in_use();

}  // namespace xgrad::testing
