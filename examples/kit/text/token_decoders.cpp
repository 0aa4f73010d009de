// From tokens back to a text. Bytes that are no UTF-8 stay as they are.
#include <xgrad/kit/text/tokenizer_parts.h>

#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include <xgrad/kit/text/byte_text.h>
#include <xgrad/kit/text/utf8.h>

namespace xgrad::kit {
namespace {

std::string replaced(const std::string& text, std::string_view wanted, std::string_view by) {
  if (wanted.empty()) return text;
  std::string result;
  std::size_t done = 0;
  for (std::size_t at = text.find(wanted); at != text.npos; at = text.find(wanted, done)) {
    result.append(text, done, at - done).append(by);
    done = at + wanted.size();
  }
  return result.append(text, done);
}

TokenDecoder each(std::function<std::string(std::string token, bool first, bool last)> change) {
  return [change = std::move(change)](Tokens tokens) {
    for (std::string& token : tokens) {
      token = change(std::move(token), &token == &tokens.front(), &token == &tokens.back());
    }
    return tokens;
  };
}

Tokens fused(const Tokens& tokens) {
  std::string all;
  for (const std::string& token : tokens) all += token;
  return {all};
}

Tokens from_byte_text(const Tokens& tokens) {
  std::string all;
  for (const std::string& token : tokens) all += bytes_of_text(token).value_or(token);
  return {all};
}

/// The byte that a token such as <0x0A> stands for.
std::optional<char> byte_of(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || !token.ends_with('>')) return std::nullopt;
  unsigned value = 0;
  const char *begin = token.data() + 3, *end = begin + 2;
  const auto [stop, error] = std::from_chars(begin, end, value, 16);
  if (error != std::errc() || stop != end) return std::nullopt;
  return static_cast<char>(value);
}

Tokens with_bytes(const Tokens& tokens) {
  Tokens result;
  bool was_byte = false;
  for (const std::string& token : tokens) {
    const std::optional<char> byte = byte_of(token);
    if (!byte || !was_byte) result.emplace_back();
    byte ? result.back() += *byte : result.back() = token;
    was_byte = byte.has_value();
  }
  return result;
}

/// Removes the spaces of tokenization: "do n't !" -> "don't!"
std::string cleaned_up(std::string text) {
  constexpr std::array<std::pair<const char*, const char*>, 11> rules{{{" .", "."},
                                                                       {" ?", "?"},
                                                                       {" !", "!"},
                                                                       {" ,", ","},
                                                                       {" ' ", "'"},
                                                                       {" n't", "n't"},
                                                                       {" 'm", "'m"},
                                                                       {" do not", " don't"},
                                                                       {" 's", "'s"},
                                                                       {" 've", "'ve"},
                                                                       {" 're", "'re"}}};
  for (const auto& [from, to] : rules) text = replaced(text, from, to);
  return text;
}

TokenDecoder wordpiece_decoder(const JsonField& field) {
  return each([prefix = field["prefix"].text(), clean = field["cleanup"].truth()](std::string token, bool first, bool) {
    if (!first) token = token.starts_with(prefix) ? token.substr(prefix.size()) : " " + token;
    return clean ? cleaned_up(std::move(token)) : token;
  });
}

TokenDecoder metaspace_decoder(const JsonField& field) {
  const std::string mark = encode_utf8(std::u32string(1, field["replacement"].character()));
  const JsonField scheme = field["prepend_scheme"];
  const bool prefix = (scheme.empty() || scheme.text() != "never") && field["add_prefix_space"].truth(true);
  return each([mark, prefix](const std::string& token, bool first, bool) {
    return replaced(token, mark, first && prefix ? "" : " ");
  });
}

TokenDecoder strip_decoder(const JsonField& field) {
  const char32_t content = field["content"].character();
  const auto start = static_cast<std::size_t>(field["start"].id()), stop = static_cast<std::size_t>(field["stop"].id());
  return each([=](const std::string& token, bool, bool) {
    const std::u32string characters = decode_utf8(token);
    std::u32string_view rest = characters;
    for (std::size_t i = 0; i < start && rest.starts_with(content); ++i) rest.remove_prefix(1);
    for (std::size_t i = 0; i < stop && rest.ends_with(content); ++i) rest.remove_suffix(1);
    return rest.size() == characters.size() ? token : encode_utf8(rest);
  });
}

}  // namespace

TokenDecoder read_decoder(const JsonField& field) {
  if (field.empty()) {
    return each([](std::string token, bool first, bool) { return first ? token : " " + token; });
  }
  const std::string type = field["type"].text();
  if (type == "Sequence") {
    const JsonField list = field["decoders"];
    std::vector<TokenDecoder> steps;
    for (std::size_t i = 0; i < list.list().size(); ++i) steps.push_back(read_decoder(list[i]));
    return [steps = std::move(steps)](Tokens tokens) {
      for (const TokenDecoder& step : steps) tokens = step(std::move(tokens));
      return tokens;
    };
  }
  if (type == "ByteLevel") return from_byte_text;
  if (type == "ByteFallback") return with_bytes;
  if (type == "Fuse") return fused;
  if (type == "WordPiece") return wordpiece_decoder(field);
  if (type == "Metaspace") return metaspace_decoder(field);
  if (type == "Strip") return strip_decoder(field);
  if (type == "BPEDecoder") {
    return each([suffix = field["suffix"].text()](const std::string& token, bool, bool last) {
      return replaced(token, suffix, last ? "" : " ");
    });
  }
  if (type == "Replace") {
    return each([find = read_pattern(field["pattern"]), content = field["content"].text()](const std::string& token,
                                                                                           bool, bool) {
      std::string result;
      for (const Span& span : find(token)) {
        result += span.match ? content : token.substr(span.begin, span.end - span.begin);
      }
      return result;
    });
  }
  field["type"].refuse(cat(in_quotes(type), " is not supported"));
}

}  // namespace xgrad::kit
