// Sheets of SVG: escaping, numbers, sizes of texts.
#include <doctest/doctest.h>

#include <algorithm>

#include <xgrad/kit/draw/attention.h>
#include <xgrad/kit/draw/heatmap.h>
#include <xgrad/kit/draw/pictures.h>
#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/draw/svg.h>
#include <xgrad/kit/draw/vectors.h>

#include "support.h"

namespace xgrad::kit::testing {

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
  CHECK(xml_escaped("\x1F \t\n\uFFFC\uFFFE\uFFFF") == "\uFFFD \t\n\uFFFC\uFFFD\uFFFD");
}

TEST_CASE("every figure keeps hostile text as text") {
  const Series series{hostile, {1, 2}, {3, 4}, Series::Style::marked};
  const PlotPanel panel{.series = {series}, .title = hostile, .x_label = hostile, .y_label = hostile};
  const HeatMaps maps{.title = hostile,
                      .queries = {hostile},
                      .keys = {hostile},
                      .panels = {{hostile, {1}}},
                      .query_caption = hostile,
                      .key_caption = hostile};
  const Array weight({1, 1, 1, 1}, 1);
  for (const std::string& svg :
       {line_plot({series}, {.title = hostile, .x_label = hostile, .y_label = hostile}),
        panel_plot({panel}, {.title = hostile}), heat_map_svg(maps), attention_svg(weight, maps),
        alignment_svg(weight, maps), confusion_svg(hostile, Index({1, 1}, {3}), {hostile}),
        picture_grid_svg({.title = hostile, .images = Array(Shape{1, 1, 2, 2}, 0.5f), .captions = {hostile}}),
        word_map_svg(hostile, std::vector<std::string>{hostile}, Array({1, 2}, 0))}) {
    check_svg(svg, 0, {"<script", std::string_view("\0", 1)});
  }
}

TEST_CASE("a sheet is well-formed, and as exact as pixels need") {
  const CommaLocale commas;
  Svg svg(1200.5, 40, "a <title>");
  svg.open("g", {{"stroke", "#000"}});
  svg.line(1.0 / 3, -0.001, 1234.5, 2, {}, "hover & see");
  svg.close("g");
  svg.text(1, 2, "<pad>", {{"class", "\"x\""}});
  check_svg(svg.str(), 1,
            {"<line x1=\"0.33\" y1=\"0\" x2=\"1234.5\" y2=\"2\"><title>hover &amp; see</title></line>",
             "viewBox=\"0 0 1200.5 40\"", ">&lt;pad&gt;</text>",
             "<rect width=\"1200.5\" height=\"40\" fill=\"#ffffff\" class=\"fillffffff0d1117\"/>"});
}

TEST_CASE("texts are measured and cut") {
  CHECK(text_width("", 12) == 0);
  CHECK(text_width("iiii", 12) < text_width("mmmm", 12));
  CHECK(text_width("aa", 24) == doctest::Approx(2 * text_width("aa", 12)));
  for (const char* wide : {"A", "Z", "<", ">", "+", "=", "猫"}) CHECK(text_width(wide, 12) > text_width("a", 12));
  CHECK(text_width("e\u0301", 12) == text_width("e", 12));
  CHECK(fit_width("short", 12, 100) == "short");
  CHECK(fit_width("short", 12, text_width("short", 12)) == "short");
  CHECK(fit_width("aaaa", 12, text_width("aa…", 12)) == "aa…");
  const std::string cut = fit_width("anticonstitutionnellement", 11, 80);
  CHECK(cut.ends_with("…"));
  CHECK(text_width(cut, 11) <= 80);
  CHECK(fit_width("word", 12, 0) == "…");
  CHECK(text_width("title", 1000) == 1958);  // the wider of Helvetica and DejaVu Sans for each letter
  CHECK(bold_width("title", 1000) == 2323);
  Svg svg(10, 10, "");
  CHECK(Sheet("a title", 0).inner() == doctest::Approx(bold_width("a title", Sheet::title_size)));  // in one line
  svg.heading(1, 2, "a <title>", 16, bold_width("a <title>", 16));
  check_svg(svg.str(), 1, {"<text x=\"1\" y=\"2\" font-size=\"16\" font-weight=\"bold\">a &lt;title&gt;</text>"});
}

TEST_CASE("a long text goes on in further lines, and nothing of it is lost") {
  CHECK(wrap_width("", 12, 100).empty());
  CHECK(wrap_width("", 12, -1).empty());
  CHECK(wrap_width("ab", 12, -1) == std::vector<std::string>{"a", "b"});
  CHECK(wrap_width("short", 12, 100) == std::vector<std::string>{"short"});
  CHECK(wrap_width("a bbbb", 12, text_width("bbbb", 12)) == std::vector<std::string>{"a", "bbbb"});
  CHECK(wrap_width(" bbbb", 12, text_width("bbb", 12)) == std::vector<std::string>{" bb", "bb"});
  const std::string text = "the mistakes that it was surest of, anticonstitutionnellement, été comme hiver";
  for (const double width : {1.0, 30.0, 80.0, 200.0}) {
    std::string all;
    for (const std::string& line : wrap_width(text, 12, width)) {
      CHECK_FALSE(line.empty());
      CHECK((text_width(line, 12) <= width + 0.01 || width == 1));
      all += line;
    }
    std::string without_spaces = text;
    std::erase(without_spaces, ' ');
    std::erase(all, ' ');
    CHECK(all == without_spaces);
  }
  CHECK(wrap_width("oo oo oo oo", 12, text_width("oo oo", 12)) == std::vector<std::string>{"oo oo", "oo oo"});

  Svg svg(100, 100, "");
  const std::string heading = "a heading of two lines";
  const double width = 0.6 * bold_width(heading, 16);
  svg.heading(3, 4, heading, 16, width);
  CHECK(attributes(svg.str(), "text", "y") == std::vector<double>{4, 24.8});
  check_svg(svg.str(), 2, {" font-size=\"16\" font-weight=\"bold\">"});
  check_svg(svg.str(), 0, {"…"});
  CHECK(heading_height(heading, 16, width) == doctest::Approx(2 * line_height(16)));
  CHECK(heading_height("", 16, 100) == 0);
}

TEST_CASE("a picture is saved in the format of its file") {
  const TemporaryFolder folder;
  const std::string picture = Svg(10, 10, "").str();
  save(folder / "a.svg", picture);
  CHECK(read_text(folder / "a.svg") == picture);
  save(folder / "a.png", picture);
  CHECK(read_text(folder / "a.png").starts_with("\x89PNG"));
  save(folder / "a.pdf", picture);
  CHECK(read_text(folder / "a.pdf").starts_with("%PDF"));
  CHECK_REFUSED(ValueError, save("a.gif", picture), "save", "the extension of 'a.gif' is none of .svg, .pdf, .png");
}

}  // namespace xgrad::kit::testing
