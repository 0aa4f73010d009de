// Properties of single characters in the Unicode version of utf8proc.
#pragma once

#include <string>
#include <string_view>

#include <xgrad/core/base/error.h>

namespace xgrad::kit {

/// The class of a character by its general category: L, M, N, the separators Z with the controls that are white space,
/// and everything else (marks of punctuation, symbols, controls, characters that are not assigned).
enum class CharacterClass { letter, mark, number, space, other };

/// The class of a character.
CharacterClass character_class(char32_t c);

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
