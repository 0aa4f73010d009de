// Lines from the word, the sentence as it grows, and queries, keys and values as cells; rules of CSS move them.
#include <xgrad/kit/draw/word_attention.h>

#include <algorithm>
#include <array>
#include <cmath>

#include <xgrad/kit/program/format.h>

namespace xgrad::kit {
namespace {

constexpr double width = 700, margin = 18, inner = width - 2 * margin;
constexpr double word_font = 17, small = 13, widest_line = 15, least_number = 0.095, arcs = 118, row = 34;

// The picture is complete without motion: what appears is there, and its animation hides it until its time.
constexpr std::string_view motion = R"(@media screen and (prefers-reduced-motion:no-preference){
@keyframes word-appears{from{opacity:0}}
@keyframes word-grows{from{stroke-dasharray:0 1}to{stroke-dasharray:1 1}}
@keyframes word-dims{4%,96%{opacity:.1}}
@keyframes word-passes{8%,92%{opacity:1}}
.at{animation:word-appears .4s var(--t) backwards}
.at path{animation:word-grows .7s var(--t) backwards}
.at.dims{animation:word-appears .4s var(--t) backwards,word-dims var(--d) calc(var(--t) + 1.4s)}
.passes{animation:word-passes var(--d) var(--t)}
})";

std::string seconds(double t) { return fixed(t, 1) + "s"; }

// A weight as .97, without the digit that is always 0.
std::string share(double weight) {
  const std::string text = fixed(weight, 2);
  return text.front() == '0' ? text.substr(1) : text;
}

struct Picture {
  const WordAttention& a;
  const WordReading& whole = a.growing.back();
  std::int64_t heads = whole.weights.dim(0), d = whole.q.dim(1), S = std::ssize(whole.words);
  std::vector<double> left = {}, middle = {};  // of the column of each word
  double sentence = 0, other_arcs = 0, rows = 0, cells = 0, height = 0;
  Svg svg;

  explicit Picture(const WordAttention& attention)
      : a(attention),
        sentence(64 + arcs + 34),
        rows(sentence + 58 + arcs + 38),
        cells(rows + row * static_cast<double>(a.growing.size() + 1) + 46),
        height(cells + 5 * 27 + 46),
        svg(width, height, a.title) {
    double texts = 0;
    for (const std::string& word : whole.words) texts += text_width(word, word_font);
    const double gap = (inner - texts) / static_cast<double>(S);
    double x = margin;
    for (std::int64_t s = 0; s < S; ++s) {
      const double wide = text_width(whole.words[at(s)], word_font) + gap;
      left.push_back(x), middle.push_back(x + wide / 2);
      x += wide;
    }
    left.push_back(x);
  }

  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
  static Ink ink(std::int64_t head) { return series_inks[at(head) % series_inks.size()]; }
  // When a word of the sentence is read; from the word itself on, more slowly. Then the heads, one by one; then all; then the other end.
  double read(std::int64_t s) const { return s <= a.word ? 0.2 * s : 0.2 * a.word + 0.8 * (s - a.word); }
  double of_head(std::int64_t place) const { return read(S - 1) + 0.2 + 1.4 * place; }
  double of_all() const { return of_head(heads); }
  void appear(double t, double dims = 0) {
    svg.open("g", {{"class", dims > 0 ? "at dims" : "at"}, {"style", "--t:" + seconds(t) + ";--d:" + seconds(dims)}});
  }
  void close() { svg.close("g"); }

  // The lines from the word to all that a head attends to, above the sentence or below it; each as wide as its weight.
  void lines(const WordReading& reading, std::int64_t head, bool below) {
    const double y = below ? sentence + 44 : sentence - 34, up = below ? -1 : 1, apart = 8 * (head - (heads - 1) / 2.0);
    const double from = middle[at(a.word)] + apart;
    for (std::int64_t s = 0; s < std::ssize(reading.words); ++s) {
      const double weight = reading.weights.at({head, s}), to = middle[at(s)] + apart;
      if (weight < 0.005) continue;
      const double high = y - up * std::min(arcs * 1.3, 44 + 0.4 * std::abs(to - from)), loop = s == a.word ? 26 : 0;
      svg.path(str("M", fixed(from - loop / 4, 1), " ", y, "C", fixed(from - loop, 1), " ", fixed(high, 1), " ", fixed(to + loop, 1), " ",
                   fixed(high, 1), " ", fixed(to + loop / 4, 1), " ", y),
               {{"pathLength", "1"}, {"fill", "none"}, {"stroke", ink(head)}, {"stroke-width", widest_line * weight}, {"stroke-opacity", 0.85}},
               str("head ", head + 1, ": ", whole.words[at(a.word)], " → ", reading.words[at(s)], " ", fixed(weight, 3)));
    }
  }

  // The greater weights as numbers beside the words, those of one word side by side; only the text of one head.
  void numbers(const WordReading& reading, std::int64_t head, bool below) {
    for (std::int64_t s = 0; s < std::ssize(reading.words); ++s) {
      std::int64_t before = 0, count = 0;
      for (std::int64_t h = 0; h < heads; ++h) {
        if (reading.weights.at({h, s}) < least_number) continue;
        before += h < head, ++count;
      }
      if (reading.weights.at({head, s}) < least_number) continue;
      svg.text(middle[at(s)] + 25 * (before - (count - 1) / 2.0), below ? sentence + 38 : sentence - 20, share(reading.weights.at({head, s})),
               {{"text-anchor", "middle"}, {"font-size", small}, {"font-weight", "bold"}, {"fill", ink(head)}});
    }
  }

  void word(std::int64_t s, double y, const std::string& text) {
    const bool reader = s == a.word;
    if (reader) svg.rect(left[at(s)], y - 18, left[at(s + 1)] - left[at(s)], 25, {{"rx", 5}, {"fill", grid_ink}});
    svg.text(middle[at(s)], y, text, {{"text-anchor", "middle"}, {"font-size", word_font}, {"font-weight", reader ? "bold" : "normal"}});
  }

  void answer(const WordReading& reading, double y) {
    svg.text(width - margin, y, "“" + whole.words[at(a.word)] + "” = " + reading.answer,
             {{"text-anchor", "end"}, {"font-size", word_font}, {"font-weight", "bold"}, {"fill", ink(a.head)}});
  }

  void sentence_and_lines() {
    for (std::int64_t s = 0; s < S; ++s) {
      appear(read(s));
      word(s, s + 1 < S ? sentence : sentence - 3, whole.words[at(s)]);
      close();
    }
    for (std::size_t i = 0; i + 1 < a.growing.size(); ++i) {  // what one head attends to on the way
      const double begin = read(std::ssize(a.growing[i].words) - 1) + 0.2;
      svg.open("g", {{"class", "passes"}, {"opacity", 0}, {"style", "--t:" + seconds(begin) + ";--d:0.9s"}});
      lines(a.growing[i], a.head, false), numbers(a.growing[i], a.head, false);
      close();
    }
    for (std::int64_t place = 0; place < heads; ++place) {
      const std::int64_t head = (a.head + place) % heads;
      appear(of_head(place), of_all() - of_head(place) - 1.4);
      lines(whole, head, false), numbers(whole, head, false);
      close();
    }
    appear(of_head(0));
    answer(whole, 64 + 24);
    close();
    for (std::int64_t head = 0; head < heads; ++head) {
      appear(of_all() + 0.6 + 0.3 * head);
      if (head == 0) word(S - 1, sentence + 19, a.other.words.back()), answer(a.other, sentence + 58 + arcs);
      lines(a.other, head, true), numbers(a.other, head, true);
      close();
    }
  }

  void growing_rows() {
    svg.text(margin, rows - 12, str("head ", a.head + 1, " word by word: what is not read yet is masked"), {{"font-size", small + 1}, {"fill", quiet_ink}});
    for (std::size_t i = 0; i <= a.growing.size(); ++i) {
      const WordReading& reading = i < a.growing.size() ? a.growing[i] : a.other;
      const double y = rows + row * static_cast<double>(i);
      appear(i < a.growing.size() ? read(std::ssize(reading.words) - 1) : of_all() + 0.6);
      for (std::int64_t s = 0; s < S; ++s) {
        const double x = left[at(s)] + 1, wide = left[at(s + 1)] - left[at(s)] - 2;
        if (s >= std::ssize(reading.words)) {
          svg.rect(x, y, wide, row - 3, {{"fill", grid_ink}});
          continue;
        }
        const double weight = reading.weights.at({a.head, s});
        svg.rect(x, y, wide, row - 3, {{"fill", ink(a.head)}, {"fill-opacity", 0.7 * weight}}, str(reading.words[at(s)], " ", fixed(weight, 3)));
        svg.text(middle[at(s)], y + 14, reading.words[at(s)],
                 {{"text-anchor", "middle"}, {"font-size", small}, {"font-weight", s == a.word ? "bold" : "normal"}});
        if (weight >= 0.005) svg.text(middle[at(s)], y + 27, share(weight), {{"text-anchor", "middle"}, {"font-size", 11.5}});
      }
      close();
    }
  }

  // A row of d cells, in the colour of the head above 0 and grey below, darker the greater a number is; and what is said at its right.
  template <class At>
  void row_of_cells(double x, double y, double cell, std::int64_t head, const At& number, const std::string& said, Ink colour) {
    for (std::int64_t i = 0; i < d; ++i) {
      const double value = number(i), begin = x + cell * static_cast<double>(i);
      svg.rect(begin, y, cell - 2, 24, {{"fill", value < 0 ? quiet_ink : ink(head)}, {"fill-opacity", std::min(0.6, std::abs(value) / 6)}, {"stroke", frame_ink}});
      svg.text(begin + cell / 2 - 1, y + 16.5, fixed(value, 1), {{"text-anchor", "middle"}, {"font-size", small}});
    }
    svg.text(x + cell * static_cast<double>(d) + 2, y + 16.5, said, {{"font-size", small}, {"font-weight", "bold"}, {"fill", colour}});
  }

  void numbers_of_heads() {
    const double label = 58, group = (inner - label) / static_cast<double>(heads), cell = (group - 62) / static_cast<double>(d);
    const std::string& self = whole.words[at(a.word)];
    const std::array<std::string, 5> names{"q of " + self, "k of " + self, "k of →", "v of " + self, "v of →"};
    for (std::size_t i = 0; i < names.size(); ++i) svg.text(margin, cells + 17 + 27.0 * static_cast<double>(i), names[i], {{"font-size", small}});
    for (std::int64_t place = 0; place < heads; ++place) {
      const std::int64_t head = (a.head + place) % heads;
      std::int64_t best = 0;
      for (std::int64_t s = 1; s < S; ++s) {
        if (whole.weights.at({head, s}) > whole.weights.at({head, best})) best = s;
      }
      const double x = margin + label + group * static_cast<double>(head);
      appear(of_head(place), of_all() - of_head(place) - 1.4);
      svg.text(x, cells - 9, str("head ", head + 1, " → ", whole.words[at(best)]), {{"font-size", word_font - 1}, {"font-weight", "bold"}, {"fill", ink(head)}});
      row_of_cells(x, cells, cell, head, [&](std::int64_t i) { return whole.q.at({head, i}); }, "", ink(head));
      for (const bool found : {false, true}) {
        const std::int64_t s = found ? best : a.word;
        double score = 0;
        for (std::int64_t i = 0; i < d; ++i) score += whole.q.at({head, i}) * whole.k.at({head, s, i}) / std::sqrt(static_cast<double>(d));
        const double y = cells + 27 * (found ? 2 : 1);
        row_of_cells(x, y, cell, head, [&](std::int64_t i) { return whole.k.at({head, s, i}); }, "= " + fixed(score, 1), text_ink);
        row_of_cells(x, y + 54, cell, head, [&](std::int64_t i) { return whole.v.at({head, s, i}); }, "× " + share(whole.weights.at({head, s})), ink(head));
      }
      close();
    }
    svg.text(margin, cells + 5 * 27 + 20, str("score = q · k / √", d, ", weight = softmax of the scores of all words, result = sum of weight × v"),
             {{"font-size", small}, {"fill", quiet_ink}});
  }

  std::string draw() {
    svg.style(motion);
    svg.text(margin, 34, a.title, {{"font-size", 20}, {"font-weight", "bold"}});
    sentence_and_lines();
    growing_rows();
    numbers_of_heads();
    return svg.str();
  }
};

}  // namespace

std::string word_attention_svg(const WordAttention& attention) {
  constexpr const char* op = "word_attention_svg";
  if (attention.growing.empty()) fail<ValueError>(op, "no words");
  const WordReading& whole = attention.growing.back();
  std::vector<WordReading> all = attention.growing;
  all.push_back(attention.other);
  for (const WordReading& reading : all) {
    const std::int64_t S = std::ssize(reading.words), H = whole.weights.rank() == 2 ? whole.weights.dim(0) : 0;
    const std::int64_t d = whole.q.rank() == 2 ? whole.q.dim(1) : 0;
    if (reading.weights.shape() != Shape{H, S} || reading.q.shape() != Shape{H, d} || reading.k.shape() != Shape{H, S, d} ||
        reading.v.shape() != Shape{H, S, d} || d == 0) {
      fail<ShapeError>(op, "weights ", reading.weights.shape(), ", q ", reading.q.shape(), ", k ", reading.k.shape(), " and v ",
                       reading.v.shape(), " of ", S, " words");
    }
    if (attention.word < 0 || attention.word >= S) fail<ValueError>(op, "no word ", attention.word, " among ", S);
    if (attention.head < 0 || attention.head >= H) fail<ValueError>(op, "no head ", attention.head, " among ", H);
    if (S > std::ssize(whole.words)) fail<ValueError>(op, S, " words in a sentence of ", whole.words.size());
  }
  return Picture(attention).draw();
}

}  // namespace xgrad::kit
