// Pre-tokenizers: from a text to the words, each of which a model sees by itself.
#include <xgrad/kit/text/tokenizer_parts.h>

#include <nlohmann/json.hpp>

#include <xgrad/kit/text/byte_text.h>
#include <xgrad/kit/text/tokenizer.h>
#include <xgrad/kit/text/unicode.h>
#include <xgrad/kit/text/utf8.h>

namespace xgrad::kit {
namespace {

bool is_space(char32_t c) { return character_class(c) == CharacterClass::space; }
bool is_number(char32_t c) { return character_class(c) == CharacterClass::number; }

void put_spans(const Piece& piece, const std::vector<Span>& spans, Pieces& pieces) {
  for (const Span& span : spans) {
    if (span.match) continue;
    pieces.push_back({piece.text.substr(span.begin, span.end - span.begin), piece.first && span.begin == 0});
  }
}

Splitter splitter(Finder find, Behavior behavior) {
  return [find = std::move(find), behavior](const Piece& piece, Pieces& pieces) {
    put_spans(piece, split_spans(find(piece.text), behavior), pieces);
  };
}

Finder inverted(Finder find) {
  return [find = std::move(find)](std::string_view text) {
    std::vector<Span> spans = find(text);
    for (Span& span : spans) span.match = !span.match;
    return spans;
  };
}

Splitter sequence(std::vector<Splitter> steps) {
  return [steps = std::move(steps)](Piece piece, Pieces& pieces) {
    Pieces now;
    now.push_back(std::move(piece));
    for (const Splitter& step : steps) {
      Pieces next;
      for (Piece& one : now) step(std::move(one), next);
      now = std::move(next);
    }
    for (Piece& one : now) pieces.push_back(std::move(one));
  };
}

Splitter byte_level(const JsonField& field) {
  const bool prefix = field["add_prefix_space"].truth(true), words = field["use_regex"].truth(true);
  return [prefix, words](Piece piece, Pieces& pieces) {
    if (prefix && !piece.text.starts_with(' ')) piece.text.insert(0, 1, ' ');
    if (!words) {
      pieces.push_back({byte_text(piece.text), piece.first});
      return;
    }
    const std::vector<std::string_view> split = gpt2_words(piece.text);
    pieces.reserve(pieces.size() + split.size());
    for (const std::string_view word : split) {
      pieces.push_back({byte_text(word), piece.first && word.data() == piece.text.data()});
    }
  };
}

Splitter metaspace(const JsonField& field) {
  const std::string mark = encode_utf8(std::u32string(1, field["replacement"].character()));
  const JsonField scheme = field["prepend_scheme"], old = field["add_prefix_space"];
  std::string prepend = scheme.empty() ? "always" : scheme.text();
  if (prepend != "always" && prepend != "first" && prepend != "never") {
    scheme.refuse(cat(in_quotes(prepend), " is neither always, first nor never"));
  }
  if (!old.truth(true)) {
    if (!scheme.empty() && prepend != "never") old.refuse(cat("is false, but prepend_scheme is ", prepend));
    prepend = "never";
  }
  const bool split = field["split"].truth(true);
  return [mark, prepend, split, marks = character_finder([c = decode_utf8(mark)[0]](char32_t other) {
                                  return c == other;
                                })](const Piece& piece, Pieces& pieces) {
    Piece marked{"", piece.first};
    for (const char c : piece.text) c == ' ' ? marked.text += mark : marked.text += c;
    const bool wanted = prepend == "always" || (prepend == "first" && piece.first);
    if (wanted && !marked.text.starts_with(mark)) marked.text.insert(0, mark);
    if (!split) {
      pieces.push_back(std::move(marked));
    } else {
      put_spans(marked, split_spans(marks(marked.text), Behavior::merged_with_next), pieces);
    }
  };
}

}  // namespace

Splitter read_splitter(const JsonField& field) {
  if (field.empty()) {
    return [](Piece piece, Pieces& pieces) { pieces.push_back(std::move(piece)); };
  }
  const std::string type = field["type"].text();
  if (type == "Sequence") {
    const JsonField list = field["pretokenizers"];
    std::vector<Splitter> steps;
    for (std::size_t i = 0; i < list.list().size(); ++i) steps.push_back(read_splitter(list[i]));
    return sequence(std::move(steps));
  }
  if (type == "ByteLevel") return byte_level(field);
  if (type == "Metaspace") return metaspace(field);
  if (type == "Split") {
    Finder find = read_pattern(field["pattern"]);
    if (field["invert"].truth(false)) find = inverted(std::move(find));
    return splitter(std::move(find), read_behavior(field["behavior"], Behavior::isolated));
  }
  if (type == "BertPreTokenizer") {
    return sequence({splitter(character_finder(is_space), Behavior::removed),
                     splitter(character_finder(is_punctuation), Behavior::isolated)});
  }
  if (type == "Whitespace") {
    constexpr std::string_view word = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control})";
    const std::string words = cat("[", word, "]+|[^", word, R"(\p{White_Space}]+)");
    return splitter(inverted(pattern_finder(words)), Behavior::removed);
  }
  if (type == "WhitespaceSplit") return splitter(character_finder(is_space), Behavior::removed);
  if (type == "Punctuation") {
    return splitter(character_finder(is_punctuation), read_behavior(field["behavior"], Behavior::isolated));
  }
  if (type == "Digits") {
    return splitter(character_finder(is_number),
                    field["individual_digits"].truth(false) ? Behavior::isolated : Behavior::contiguous);
  }
  field["type"].refuse(cat(in_quotes(type), " is not supported"));
}

}  // namespace xgrad::kit
