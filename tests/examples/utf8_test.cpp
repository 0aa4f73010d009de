// Decoding and the width of texts.
#include <doctest/doctest.h>

#include <xgrad/kit/text/utf8.h>

using namespace xgrad::kit;

TEST_CASE("well-formed UTF-8 is told from everything else") {
  CHECK(is_utf8(""));
  CHECK(is_utf8("ça va → 猫 😀"));
  CHECK(is_utf8("\xF4\x8F\xBF\xBF"));        // U+10FFFF
  CHECK_FALSE(is_utf8("\xE9t\xE9"));         // Latin-1
  CHECK_FALSE(is_utf8("\xC3"));              // cut short
  CHECK_FALSE(is_utf8("\xC0\xAF"));          // overlong
  CHECK_FALSE(is_utf8("\xE0\x80\xAF"));      // overlong
  CHECK_FALSE(is_utf8("\xED\xA0\x80"));      // surrogate
  CHECK_FALSE(is_utf8("\xF4\x90\x80\x80"));  // past U+10FFFF
  CHECK_FALSE(is_utf8("\xFF\xFEG\x00"));     // UTF-16
}

TEST_CASE("decoding and encoding are inverse, and bad bytes become U+FFFD one by one") {
  const std::string text = "L'œuf, ça va ? → 猫 😀";
  CHECK(encode_utf8(decode_utf8(text)) == text);
  CHECK(decode_utf8("a\xFF\xC3z") == U"a\uFFFD\uFFFDz");
  CHECK(encode_utf8(std::u32string(1, 0xD800)) == "\uFFFD");
}

TEST_CASE("columns count what a terminal shows") {
  CHECK(columns("été") == 3);
  CHECK(columns("猫") == 2);
  CHECK(columns("e\u0301") == 1);
}

TEST_CASE("texts are cut to columns with an ellipsis, and cannot move the cursor") {
  CHECK(fit_columns("été", 3) == "été");
  CHECK(fit_columns("étés", 3) == "ét…");
  CHECK(fit_columns("猫猫猫", 4) == "猫…");
  CHECK(fit_columns("abc", 1) == "…");
  CHECK(fit_columns("abc", 0).empty());
  CHECK(fit_columns("a\n\x1b[2Jb", 20) == "a  [2Jb");
}
