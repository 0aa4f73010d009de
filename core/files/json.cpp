// JSON from files. The parser uses no recursion, so nothing overflows before the depth is refused.
#include "json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "../base/error.h"
#include "file.h"

namespace xgrad {

using Json = nlohmann::json;

constexpr int max_json_depth = 64;  // of brackets: little enough for recursive functions

Json read_json(const std::string& path, std::string_view op, std::int64_t max_bytes) {
  const InputFile file(path, op);
  if (file.size() > max_bytes) fail<LimitError>(op, path, ": ", file.size(), " bytes, allowed are ", max_bytes);
  const std::string text = file.read(0, file.size());
  // The parser would take it for the end.
  if (const std::size_t nul = text.find('\0'); nul != text.npos)
    fail<FormatError>(op, path, ": has a NUL at byte ", nul);

  std::vector<std::set<std::string>> open;  // the brackets around what comes next, each with its keys up to now
  using Event = Json::parse_event_t;
  const auto watch = [&](int, Event event, const Json& what) {
    if (event == Event::object_start || event == Event::array_start) {
      if (std::ssize(open) == max_json_depth) {
        fail<FormatError>(op, path, ": brackets are nested deeper than ", max_json_depth);
      }
      open.emplace_back();
    } else if (event == Event::object_end || event == Event::array_end) {
      open.pop_back();
    } else if (event == Event::key && !open.back().insert(what.get<std::string>()).second) {
      fail<FormatError>(op, path, ": the key ", shown(what), " is given twice");
    }
    return true;
  };
  try {
    return Json::parse(text, watch);
  } catch (const Json::parse_error& error) {
    fail<FormatError>(op, path, ": is not valid JSON at byte ", std::max<std::size_t>(error.byte, 1) - 1);
  } catch (const Json::out_of_range&) {
    fail<FormatError>(op, path, ": has a number that is too large");
  }
}

std::string shown(const Json& value) {
  constexpr std::size_t most = 100;
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > most) text.replace(most, text.npos, "...");
  return text;
}

}  // namespace xgrad
