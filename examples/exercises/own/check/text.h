// The text that the reader's GPT learns, as tokens.
#pragma once

namespace check {

struct Rhyme {
  std::string text =
      "mary had a little lamb, its fleece was white as snow, and everywhere that mary went, the lamb was sure to go. ";
  std::string characters = text;
  Ids ids;
  Rhyme() {
    std::sort(characters.begin(), characters.end());
    characters.erase(std::unique(characters.begin(), characters.end()), characters.end());
    ids = of(text);
  }
  Ids of(const std::string& part) const {
    Ids result;
    for (const char c : part) result.push_back(static_cast<int>(characters.find(c)));
    return result;
  }
  int size() const { return static_cast<int>(characters.size()); }
};

}  // namespace check
