// The engine of the live pages of the site. In a page, site/live/engine.js calls `live_answer`; in a terminal it
// answers requests from its input, one a line.
//
//   docs/make --live
#include <iostream>

#include "live.h"

namespace live {

Json numbers(const xgrad::Array& array) {
  Json list = Json::array();
  for (std::int64_t i = 0; i < array.size(); ++i) list.push_back(array.data()[i]);
  return list;
}

std::string answer(const std::string& request) {
  Json answer;
  try {
    const Json asked = Json::parse(request);
    const std::string of = asked.at("of");
    if (of == "expression") {
      answer = expression(asked);
    } else if (of == "attention") {
      answer = attention(asked);
    } else if (of == "training") {
      answer = training(asked);
    } else if (of == "translation") {
      answer = translation(asked);
    } else if (of == "exercise") {
      answer = exercise(asked);
    } else {
      xgrad::fail<xgrad::ValueError>("live", "there is no page \"", of, '"');
    }
  } catch (const std::exception& error) {
    answer = {{"error", error.what()}};
  }
  return answer.dump();
}

}  // namespace live

/// The answer is there until the next call.
extern "C" const char* live_answer(const char* request) {
  static std::string last;
  last = live::answer(request);
  return last.c_str();
}

int main() {
  for (std::string line; std::getline(std::cin, line);) std::cout << live::answer(line) << std::endl;
}
