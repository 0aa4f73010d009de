// Weights on huge pages: where the system can move memory to them, parameters and loaded weights are there.
#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include <xgrad/nn/module.h>

#include "support/check.h"

namespace xgrad::testing {
namespace {

constexpr std::size_t huge_page = std::size_t{1} << 21;

// The kilobytes on huge pages in the mapping that holds this address.
std::int64_t huge_kilobytes_at(const void* address) {
  std::ifstream maps("/proc/self/smaps");
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  bool here = false;
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0, end = 0;
    char dash = 0;
    std::istringstream in(line);
    if (in >> std::hex >> begin >> dash >> end && dash == '-') here = begin <= wanted && wanted < end;
    if (here && line.starts_with("AnonHugePages:")) return std::stoll(line.substr(line.find(':') + 1));
  }
  return 0;
}

// Whether this system moves the memory of a process to huge pages.
bool system_has_them() {
  constexpr std::size_t size = 2 * huge_page;
  constexpr int collapse = 25;
  void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  std::memset(memory, 1, size);
  const std::uintptr_t page = (reinterpret_cast<std::uintptr_t>(memory) + huge_page - 1) / huge_page * huge_page;
  const bool moved = madvise(reinterpret_cast<void*>(page), huge_page, collapse) == 0;
  munmap(memory, size);
  return moved;
}

struct WideNet : nn::Module {
  static constexpr std::int64_t count = std::int64_t{1} << 21;  // several huge pages
  Tensor weight = param("weight", {count}, nn::init::uniform());
};

}  // namespace

TEST_CASE("Large parameters and loaded weights are on huge pages where the system has them, with their numbers") {
  const bool here = system_has_them();
  if (!here) MESSAGE("skipped: this system moves no memory to huge pages");
  const std::int64_t least = here ? 2 * static_cast<std::int64_t>(huge_page) / 1024 : 0;
  const WideNet model;
  const Array before(Shape{WideNet::count}, std::span(model.weight.value().begin(), model.weight.value().end()));
  CHECK(huge_kilobytes_at(model.weight.value().data()) >= least);
  const Array loaded = normal({WideNet::count});
  model.load_state_dict({{"weight", loaded}});
  CHECK(huge_kilobytes_at(model.weight.value().data()) >= least);
  CHECK(equal(model.weight.value(), normal({WideNet::count})));
  CHECK_FALSE(equal(before, model.weight.value()));
}

}  // namespace xgrad::testing
