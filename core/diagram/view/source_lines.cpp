// Call stacks and their source lines.
#include "source_lines.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <span>
#include <string_view>

#include "../../base/error.h"
#include "../../files/program.h"

namespace xgrad {
namespace {

// The folder of core, ops and the others, when the library was compiled.
std::string library_folder() {
  constexpr std::string_view below = "core/diagram/view/source_lines.cpp";
  static_assert(std::string_view(__FILE__).ends_with(below));
  std::string here = std::filesystem::path(__FILE__).lexically_normal().string();
  return here.erase(here.size() - below.size());
}

bool belongs_to_library(std::string_view file) {
  static const std::string folder = library_folder();
  if (file.find("/include/xgrad/") != file.npos) return true;  // installed, or through links of the build
  if (!file.starts_with(folder)) return false;
  file.remove_prefix(folder.size());
  return std::ranges::any_of(std::array{"core/", "ops/", "nn/", "optim/"},
                             [&](std::string_view room) { return file.starts_with(room); });
}

// A sanitizer's runtime intercepts backtrace(), so that the innermost call is its own.
bool belongs_to_system(std::string_view file) {
  // The C library's files have no folder before these.
  constexpr std::array<std::string_view, 5> folders{"/usr/include/", "/usr/lib/", "csu/", "nptl/", "sysdeps/"};
  return file.find("/sanitizer_common/") != file.npos ||
         std::ranges::any_of(folders, [&](std::string_view folder) { return file.starts_with(folder); });
}

// The file with the machine code of an address, and the position in it.
struct InFile {
  std::string file;
  std::uintptr_t offset = 0;
};
InFile in_file(const void* address) {
  Dl_info info{};
  link_map* object = nullptr;
  if (!dladdr1(address, &info, reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP) || !object) return {};
  const std::string_view name = object->l_name;  // empty for the program itself
  return {.file = name.empty() ? std::filesystem::read_symlink("/proc/self/exe").string() : std::string(name),
          .offset = reinterpret_cast<std::uintptr_t>(address) - object->l_addr};
}

// "file:line" without what addr2line adds: " (discriminator 2)". Empty for "??:0".
std::string place_of(std::string_view line) {
  line = line.substr(0, line.find(' '));
  const std::size_t colon = line.rfind(':');
  if (colon == line.npos || line.starts_with('?')) return {};
  const std::string_view number = line.substr(colon + 1);
  if (number == "?" || number == "0") return {};
  return cat(std::filesystem::path(line.substr(0, colon)).lexically_normal().string(), ':', number);
}

}  // namespace

void SourceLines::operation(const OperationRun& run) {
  const Ref<Node>& node = run.output.node();
  if (!node) return;
  if (run.rule_of) {
    if (const auto of_rule = calls_.find(run.rule_of->id); of_rule != calls_.end()) {
      const Calls calls = of_rule->second;
      calls_[node->id] = calls;
    }
    return;
  }
  // The innermost calls are those of the observers and of the operation itself.
  std::array<void*, most_calls> stack{};
  const int count = backtrace(stack.data(), most_calls);
  Calls calls{};
  std::copy_n(stack.begin(), count, calls.begin());
  for (const void* call : std::span(calls).first(static_cast<std::size_t>(count))) {
    if (places_.try_emplace(call).second) unread_.push_back(call);
  }
  calls_[node->id] = calls;
}

std::string SourceLines::of(const Node& node) const {
  const auto calls = calls_.find(node.id);
  if (calls == calls_.end()) return {};
  read_places();
  return first_outside(calls->second);
}

std::string SourceLines::of(const Tensor& tensor) const {
  if (!tensor.defined()) fail<GraphError>("source_lines", "the tensor is undefined");
  return tensor.node() ? of(*tensor.node()) : std::string();
}

void SourceLines::clear() { calls_.clear(); }

std::string SourceLines::first_outside(const Calls& calls) const {
  for (const void* call : calls) {
    if (!call) break;
    for (const std::string& place : places_.at(call)) {
      if (!belongs_to_library(place) && !belongs_to_system(place)) return std::filesystem::path(place).filename();
    }
  }
  return {};
}

// Reads all places that are not known yet, once for each file of machine code. A return address may be the first of the
// line after the call, so the byte before it is looked up.
void SourceLines::read_places() const {
  std::map<std::string, std::vector<std::pair<const void*, std::uintptr_t>>> missing;
  for (const void* call : unread_) {
    const InFile place = in_file(call);
    if (!place.file.empty()) missing[place.file].emplace_back(call, place.offset - 1);
  }
  unread_.clear();
  for (const auto& [file, addresses] : missing) {
    std::string input;
    for (const auto& [call, offset] : addresses) {
      std::array<char, 2 * sizeof offset> digits;
      const char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), offset, 16).ptr;
      append(input, cat("0x", std::string_view(digits.data(), end), '\n'));
    }
    // The program reads its own file: much memory where that is large. Half of an output would name wrong lines.
    constexpr DrawingLimits limits{.processor_seconds = 60, .memory = std::int64_t{16} << 30};
    const auto [output, failure, is_there] =
        detail::run_program({"addr2line", "-a", "-i", "-e", file}, input, limits, "source_lines");
    if (!failure.empty()) continue;
    // An address, then its places, the innermost first.
    std::size_t next = 0;
    std::vector<std::string>* places = nullptr;
    for (std::string_view rest = output; !rest.empty();) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
      if (line.starts_with("0x")) {
        places = next < addresses.size() ? &places_[addresses[next++].first] : nullptr;
      } else if (std::string place = place_of(line); places && !place.empty()) {
        places->push_back(std::move(place));
      }
    }
  }
}

}  // namespace xgrad
