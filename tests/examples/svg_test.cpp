// Sheets of SVG: escaping, numbers, sizes of texts.
#include <doctest/doctest.h>

#include <xgrad/kit/svg.h>

#include "support.h"

using namespace xgrad::kit;
using xgrad::kit::testing::xml_error;

TEST_CASE("the XML reader of these tests finds errors") {
  CHECK(xml_error("<a b=\"1\"><c/>x &amp; y</a>\n").empty());
  for (const char* bad :
       {"<a>", "<a></b>", "<a/><b/>", "<a b=1/>", "<a b=\"<\"/>", "<a>&nbsp;</a>", "<a>& </a>", "text"}) {
    CAPTURE(bad);
    CHECK_FALSE(xml_error(bad).empty());
  }
}

TEST_CASE("every text is escaped, and what XML does not allow is replaced") {
  CHECK(xml_escaped("<eos> & \"l'eau\"") == "&lt;eos&gt; &amp; &quot;l&#39;eau&quot;");
  CHECK(xml_escaped("ça → 猫") == "ça → 猫");
  CHECK(xml_escaped(std::string("a\0b\x1b", 4)) == "a\uFFFDb\uFFFD");
  CHECK(xml_escaped("\xC3\x28") == "\uFFFD(");
}

TEST_CASE("a sheet is well-formed, white, and as exact as pixels need") {
  const testing::CommaLocale commas;
  Svg svg(1200.5, 40, "a <title>");
  svg.open("g", {{"stroke", "#000"}});
  svg.shape("line", {{"x1", 1.0 / 3}, {"y1", -0.001}, {"x2", 1234.5}, {"y2", 2}}, "hover & see");
  svg.close("g");
  svg.text(1, 2, "<pad>", {{"class", "\"x\""}});
  const std::string text = svg.str();
  CHECK(xml_error(text).empty());
  CHECK(text.find("<line x1=\"0.33\" y1=\"0\" x2=\"1234.5\" y2=\"2\"><title>hover &amp; see</title></line>") !=
        text.npos);
  CHECK(text.find("viewBox=\"0 0 1200.5 40\"") != text.npos);
  CHECK(text.find("<rect width=\"1200.5\" height=\"40\" fill=\"#ffffff\"/>") != text.npos);
  CHECK(text.find(">&lt;pad&gt;</text>") != text.npos);
}

TEST_CASE("texts are measured and cut") {
  CHECK(text_width("", 12) == 0);
  CHECK(text_width("iiii", 12) < text_width("mmmm", 12));
  CHECK(text_width("aa", 24) == doctest::Approx(2 * text_width("aa", 12)));
  CHECK(fit_width("short", 12, 100) == "short");
  const std::string cut = fit_width("anticonstitutionnellement", 11, 80);
  CHECK(cut.ends_with("…"));
  CHECK(text_width(cut, 11) <= 80);
  CHECK(fit_width("word", 12, 0) == "…");
}
