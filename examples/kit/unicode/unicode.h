// UTF-8, properties of characters as utf8proc has them, and the room that a text takes in a terminal. Private.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <xgrad/core/base/error.h>

namespace xgrad::kit {

/// A character and the number of bytes that it came from.
struct DecodedCharacter {
  char32_t value = 0;
  std::size_t length = 0;
};
/// The first character of a text that is not empty; U+FFFD with length 0 if its first byte begins no well-formed
/// sequence.
DecodedCharacter decode_first(std::string_view text);

/// The number of bytes before the first one that belongs to no well-formed sequence. No overlong forms, surrogates or
/// values past U+10FFFF are well-formed.
std::size_t utf8_prefix(std::string_view text);

/// Throws ValueError, which begins with `op`, for a text that is not UTF-8.
void require_utf8(const char* op, std::string_view text);

/// The characters of a text; each byte that belongs to no well-formed sequence becomes U+FFFD.
std::u32string decode_utf8(std::string_view text);

/// The bytes of a text; surrogates and values past U+10FFFF become U+FFFD.
std::string encode_utf8(std::u32string_view text);

/// The text with plain spaces in place of no-break spaces (U+00A0, U+202F).
std::string plain_spaces(std::string_view text);

/// The columns that a text takes in a terminal: 0 for combining marks, 2 for East Asian wide characters and emoji.
int columns(std::string_view text);

/// The text itself if it fits into so many columns, or its beginning with an ellipsis at the end. Control characters
/// become spaces, so that nothing in a text can move the cursor.
std::string fit_columns(std::string_view text, int width);

/// A text of a file in quotes, short enough for a message.
std::string in_quotes(std::string_view text);

/// True for white space: the separators, Z, and the controls that Unicode counts as white space.
bool is_space(char32_t c);

/// True for what words consist of: letters, marks and numbers, L, M and N.
bool is_word_character(char32_t c);

/// The two letters of the general category, such as "Lu".
std::string_view character_category(char32_t c);

/// True for punctuation, P, and for the symbols of ASCII: `$`, `+`, `<`, `^` and others.
bool is_punctuation(char32_t c);

/// The small form of a letter; other characters stay as they are.
char32_t lower_case(char32_t c);

/// The normal form C of a text in UTF-8: a letter and its accents are one character where there is one.
std::string composed_form(std::string_view text);

/// The normal form D of a text in UTF-8: a letter and each of its accents are characters.
std::string decomposed_form(std::string_view text);

}  // namespace xgrad::kit
