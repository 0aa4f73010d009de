// Text from outside, made fit to be shown.
#include "quote.h"

#include <nlohmann/json.hpp>

namespace xgrad {

std::string escaped(std::string_view text) {
  constexpr std::size_t shown = 100;
  using Json = nlohmann::json;
  std::string result = Json(text.substr(0, shown)).dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > shown) result += "...";
  return result;
}

}  // namespace xgrad
