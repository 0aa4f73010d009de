// Lines from the word, the sentence as it grows, and queries, keys and values as cells; rules of CSS move them.
#include <xgrad/kit/draw/word_attention.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include <xgrad/kit/program/format.h>

namespace xgrad::kit {
namespace {

// The drawing is complete: an animation only hides a group (`at`) until its time, or dims it while others are shown. What the
// first head attends to on the way (`passes`) is seen in motion alone; the rows below say it, too.
constexpr std::string_view word_motion = R"(@media screen and (prefers-reduced-motion:no-preference){
@keyframes word-appears{from{opacity:0}}
@keyframes word-grows{from{stroke-dasharray:0 1}to{stroke-dasharray:1 1}}
@keyframes word-dims{4%,96%{opacity:.1}}
@keyframes word-passes{8%,92%{opacity:1}}
.at{animation:word-appears .4s var(--t) backwards}
.at path{animation:word-grows .7s var(--t) backwards}
.at.dims{animation:word-appears .4s var(--t) backwards,word-dims var(--d) calc(var(--t) + 1.4s)}
.passes{animation:word-passes .9s var(--t)}
})";

class WordPicture {
 public:
  explicit WordPicture(const WordAttention& attention) : a_(attention) {
    double texts = 0, x = margin;
    for (const std::string& word : whole_.words) texts += text_width(word, font);
    for (const std::string& word : whole_.words) {
      left_.push_back(x);
      x += text_width(word, font) + (inner - texts) / static_cast<double>(S_);
    }
    left_.push_back(x);
  }

  std::string draw() {
    svg_.style(word_motion);
    label(margin, 34, a_.title, 20, text_ink, "start", "bold");
    sentence();
    rows();
    cells();
    return svg_.str();
  }

 private:
  static constexpr double width = 700, margin = 18, inner = width - 2 * margin, font = 17, small = 13, row = 34, cell_row = 27;
  static constexpr double line_width = 15, highest_line = 153, pause = 1.4;  // between two heads, in seconds

  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
  static Ink ink(std::int64_t head) { return series_inks[at(head) % series_inks.size()]; }
  // A weight without the 0 before its point.
  static std::string number(double weight) { return fixed(weight, 2).substr(weight < 0.995 ? 1 : 0); }
  double middle(std::int64_t s) const { return (left_[at(s)] + left_[at(s + 1)]) / 2; }

  // The times at which a word is read, more slowly from the word itself on; at which each head is shown; and the other end.
  double read(std::int64_t s) const { return 0.2 * std::min(s, a_.word) + 0.8 * std::max<std::int64_t>(s - a_.word, 0); }
  double shown(std::int64_t turn) const { return read(S_ - 1) + 0.2 + pause * turn; }
  double other_end() const { return shown(heads_) + 0.6; }

  void open(const char* name, double t, double dims = 0) {
    svg_.open("g", {{"class", name}, {"opacity", name == std::string_view("passes") ? 0.0 : 1.0},
                    {"style", "--t:" + fixed(t, 1) + "s;--d:" + fixed(dims, 1) + "s"}});
  }
  void open_head(std::int64_t turn) { open("at dims", shown(turn), shown(heads_) - shown(turn + 1)); }
  void close() { svg_.close("g"); }
  void label(double x, double y, const std::string& text, double size, Ink colour, const char* anchor = "middle",
             const char* weight = "normal") {
    svg_.text(x, y, text, {{"font-size", size}, {"fill", colour}, {"text-anchor", anchor}, {"font-weight", weight}});
  }

  // What a head attends to: lines above the sentence or below it, and the greater weights as numbers.
  void lines(const WordReading& reading, std::int64_t head, bool below) {
    const double y = line_ + (below ? 44 : -34), up = below ? -1 : 1, apart = 8 * (head - (heads_ - 1) / 2.0);
    const double from = middle(a_.word) + apart;
    for (std::int64_t s = 0; s < std::ssize(reading.words); ++s) {
      const double weight = reading.weights.at({head, s}), to = middle(s) + apart, loop = s == a_.word ? 26 : 0;
      if (weight < 0.005) continue;
      const std::string high = fixed(y - up * std::min(highest_line, 44 + 0.4 * std::abs(to - from)), 1);
      svg_.path(str("M", fixed(from - loop / 4, 1), " ", y, "C", fixed(from - loop, 1), " ", high, " ", fixed(to + loop, 1), " ", high,
                    " ", fixed(to + loop / 4, 1), " ", y),
                {{"pathLength", "1"},
                 {"fill", "none"},
                 {"stroke", ink(head)},
                 {"stroke-width", line_width * weight},
                 {"stroke-opacity", 0.85}},
                str("head ", head + 1, ": ", whole_.words[at(a_.word)], " → ", reading.words[at(s)], " ", fixed(weight, 3)));
      std::int64_t before = 0, all = 0;  // heads with a number at this word
      for (std::int64_t h = 0; h < heads_; ++h) {
        if (reading.weights.at({h, s}) < 0.095) continue;
        before += h < head, ++all;
      }
      if (weight >= 0.095) {
        label(middle(s) + 25 * (before - (all - 1) / 2.0), line_ + (below ? 38 : -20), number(weight), small, ink(head), "middle", "bold");
      }
    }
  }

  void answer(const WordReading& reading, double y) {
    const std::string text = "“" + whole_.words[at(a_.word)] + "” = " + reading.answer;
    label(width - margin, y, text, font, ink(a_.head), "end", "bold");
  }

  void sentence() {
    for (std::int64_t s = 0; s < S_; ++s) {
      open("at", read(s));
      if (s == a_.word) svg_.rect(left_[at(s)], line_ - 18, left_[at(s + 1)] - left_[at(s)], 25, {{"rx", 5}, {"fill", grid_ink}});
      const double y = s + 1 < S_ ? line_ : line_ - 3;  // two words end the sentence, one above the other
      label(middle(s), y, whole_.words[at(s)], font, text_ink, "middle", s == a_.word ? "bold" : "normal");
      close();
    }
    for (std::size_t i = 0; i + 1 < a_.growing.size(); ++i) {
      open("passes", read(std::ssize(a_.growing[i].words) - 1) + 0.2);
      lines(a_.growing[i], a_.head, false);
      close();
    }
    for (std::int64_t turn = 0; turn < heads_; ++turn) {
      open_head(turn);
      lines(whole_, (a_.head + turn) % heads_, false);
      close();
    }
    open("at", shown(0));
    answer(whole_, 88);
    close();
    for (std::int64_t turn = 0; turn < heads_; ++turn) {
      open("at", other_end() + 0.3 * turn);
      if (turn == 0) {
        label(middle(S_ - 1), line_ + 19, a_.other.words.back(), font, text_ink);
        answer(a_.other, rows_ - 38);
      }
      lines(a_.other, (a_.head + turn) % heads_, true);
      close();
    }
  }

  void rows() {
    label(margin, rows_ - 12, str("head ", a_.head + 1, " word by word: what is not read yet is masked"), small + 1, quiet_ink, "start");
    for (std::size_t i = 0; i <= a_.growing.size(); ++i) {
      const WordReading& reading = i < a_.growing.size() ? a_.growing[i] : a_.other;
      const double y = rows_ + row * static_cast<double>(i);
      open("at", i < a_.growing.size() ? read(std::ssize(reading.words) - 1) : other_end());
      for (std::int64_t s = 0; s < S_; ++s) {
        const bool masked = s >= std::ssize(reading.words);
        const double weight = masked ? 0 : reading.weights.at({a_.head, s});
        svg_.rect(left_[at(s)] + 1, y, left_[at(s + 1)] - left_[at(s)] - 2, row - 3,
                  {{"fill", masked ? grid_ink : ink(a_.head)}, {"fill-opacity", masked ? 1 : 0.7 * weight}});
        if (masked) continue;
        label(middle(s), y + 14, reading.words[at(s)], small, text_ink, "middle", s == a_.word ? "bold" : "normal");
        if (weight >= 0.005) label(middle(s), y + 27, number(weight), 11.5, text_ink);
      }
      close();
    }
  }

  // The d numbers of a row, in the colour of the head above 0 and grey below, and a text at their right.
  void cell_line(double x, double y, std::int64_t head, const Array& numbers, const std::string& text, Ink colour) {
    const double cell = (group_ - 62) / static_cast<double>(numbers.size());
    for (const double value : numbers) {
      svg_.rect(x, y, cell - 2, 24,
                {{"fill", value < 0 ? quiet_ink : ink(head)}, {"fill-opacity", std::min(0.6, std::abs(value) / 6)}, {"stroke", frame_ink}});
      label(x + cell / 2 - 1, y + 16.5, fixed(value, std::abs(value) < 9.95 ? 1 : 0), small, text_ink);
      x += cell;
    }
    label(x + 2, y + 16.5, text, small, colour, "start", "bold");
  }

  void cells() {
    const std::string& word = whole_.words[at(a_.word)];
    const std::array<std::string, 5> names{"q of " + word, "k of " + word, "k of →", "v of " + word, "v of →"};
    double y = cells_ + 17;
    for (const std::string& name : names) label(margin, std::exchange(y, y + cell_row), name, small, text_ink, "start");
    for (std::int64_t turn = 0; turn < heads_; ++turn) {
      const std::int64_t head = (a_.head + turn) % heads_;
      const Array weights = whole_.weights[{head}];
      const std::int64_t best = std::ranges::max_element(weights) - weights.begin();
      const double x = margin + names_width + group_ * static_cast<double>(head);
      open_head(turn);
      label(x, cells_ - 9, str("head ", head + 1, " → ", whole_.words[at(best)]), font - 1, ink(head), "start", "bold");
      const Array q = whole_.q[{head}];
      cell_line(x, cells_, head, q, "", text_ink);
      for (const bool found : {false, true}) {
        const std::int64_t s = found ? best : a_.word;
        const Array k = whole_.k[{head, s}];
        const double score = std::inner_product(q.begin(), q.end(), k.begin(), 0.0) / std::sqrt(static_cast<double>(q.size()));
        y = cells_ + cell_row * (found ? 2 : 1);
        cell_line(x, y, head, k, "= " + fixed(score, 1), text_ink);
        cell_line(x, y + 2 * cell_row, head, whole_.v[{head, s}], "× " + number(weights.at({s})), ink(head));
      }
      close();
    }
    label(margin, cells_ + 5 * cell_row + 20,
          str("score = q · k / √", whole_.q.dim(1), ", weight = softmax of the scores of all words, result = sum of weight × v"), small,
          quiet_ink, "start");
  }

  static constexpr double names_width = 58;
  const WordAttention& a_;
  const WordReading& whole_ = a_.growing.back();
  const std::int64_t heads_ = whole_.weights.dim(0), S_ = std::ssize(whole_.words);
  const double group_ = (inner - names_width) / static_cast<double>(heads_);
  // The sentence, and the tops of the rows and of the cells.
  const double line_ = 216, rows_ = 430, cells_ = rows_ + row * static_cast<double>(a_.growing.size() + 1) + 46;
  std::vector<double> left_ = {};  // ends of the columns of words
  Svg svg_{width, cells_ + 5 * cell_row + 46, a_.title};
};

}  // namespace

std::string word_attention_svg(const WordAttention& attention) {
  constexpr const char* op = "word_attention_svg";
  if (attention.growing.empty()) fail<ValueError>(op, "no words");
  const Shape heads = attention.growing.back().q.shape();
  std::vector<WordReading> all = attention.growing;
  all.push_back(attention.other);
  for (const auto& [words, q, k, v, weights, answer] : all) {
    const std::int64_t S = std::ssize(words), H = heads.rank() == 2 ? heads[0] : 0, d = H > 0 ? heads[1] : 0;
    if (d == 0 || q.shape() != heads || k.shape() != Shape{H, S, d} || v.shape() != k.shape() || weights.shape() != Shape{H, S}) {
      fail<ShapeError>(op, S, " words with q ", q.shape(), ", k ", k.shape(), ", v ", v.shape(), " and weights ", weights.shape());
    }
    if (attention.word < 0 || attention.word >= S) fail<ValueError>(op, "no word ", attention.word, " among ", S);
    if (attention.head < 0 || attention.head >= H) fail<ValueError>(op, "no head ", attention.head, " among ", H);
    if (S > std::ssize(attention.growing.back().words)) fail<ValueError>(op, "more words than in the whole sentence");
  }
  return WordPicture(attention).draw();
}

}  // namespace xgrad::kit
