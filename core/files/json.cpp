// JSON from files. The parser keeps a stack of its own, so that nothing overflows before the depth is refused.
#include "json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "../base/error.h"
#include "file.h"

namespace xgrad {

using Json = nlohmann::json;

Json parse_json(std::string_view text, const JsonPlace& place) {
  // The parser would take it for the end.
  if (const std::size_t nul = text.find('\0'); nul != text.npos)
    fail<FormatError>(place.op, place.path, ": has a NUL at byte ", place.begin + nul);

  std::vector<std::set<std::string>> open;  // the brackets around what comes next, each with its keys up to now
  using Event = Json::parse_event_t;
  const auto watch = [&](int, Event event, const Json& what) {
    if (event == Event::object_start || event == Event::array_start) {
      if (std::ssize(open) == place.max_depth) {
        fail<FormatError>(place.op, place.path, ": brackets are nested deeper than ", place.max_depth);
      }
      open.emplace_back();
    } else if (event == Event::object_end || event == Event::array_end) {
      open.pop_back();
    } else if (event == Event::key && !open.back().insert(what.get<std::string>()).second) {
      fail<FormatError>(place.op, place.path, ": the key ", shown(what), " is given twice");
    }
    return true;
  };
  try {
    return Json::parse(text, watch);
  } catch (const Json::parse_error& error) {
    const std::size_t byte = place.begin + std::max<std::size_t>(error.byte, 1) - 1;
    fail<FormatError>(place.op, place.path, ": is not valid JSON at byte ", byte);
  } catch (const Json::out_of_range&) {
    fail<FormatError>(place.op, place.path, ": has a number that is too large");
  }
}

Json read_json(const std::string& path, std::string_view op, std::int64_t max_bytes) {
  const InputFile file(path, op);
  if (file.size() > max_bytes) fail<LimitError>(op, path, ": ", file.size(), " bytes, allowed are ", max_bytes);
  return parse_json(file.read(0, file.size()), {path, op});
}

std::string shown(const Json& value) {
  constexpr std::size_t most = 100;
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > most) text.replace(most, text.npos, "...");
  return text;
}

}  // namespace xgrad
