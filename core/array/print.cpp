// Printing arrays as numpy does: columns aligned, large arrays shortened, long rows broken.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <ostream>
#include <string>

#include "array.h"

namespace xgrad {
namespace {

constexpr std::int64_t edge = 3;               // elements shown at each end of a shortened axis
constexpr std::int64_t shortened_from = 1000;  // elements of the array
constexpr std::size_t line_width = 80;

// The format of all numbers of an array, so that they line up in columns.
struct Format {
  std::chars_format notation = std::chars_format::general;
  int precision = 5;  // significant digits, or digits after the point
  std::size_t width = 0;
};

template <class T>
std::string written(T value, const Format& format) {
  std::string text;
  if constexpr (std::floating_point<T>) {
    char digits[64];
    const auto end = std::to_chars(digits, digits + sizeof digits, value, format.notation, format.precision).ptr;
    text.assign(digits, end);
  } else {
    append(text, value);
  }
  if (text.size() < format.width) text.insert(0, format.width - text.size(), ' ');
  return text;
}

// Calls f(element) for the elements that are shown.
template <class T, class F>
void for_each_shown(const BasicArray<T>& array, int axis, std::int64_t offset, std::int64_t stride, const F& f) {
  if (axis == array.rank()) return f(array.data()[offset]);
  const std::int64_t size = array.shape()[axis];
  if (size == 0) return;
  for (std::int64_t i = 0; i < size; ++i) {
    if (array.size() > shortened_from && size > 2 * edge && i == edge) i = size - edge;
    for_each_shown(array, axis + 1, offset + i * (stride / size), stride / size, f);
  }
}

// The digits after the point that a number needs in a notation with four of them.
int decimals(double value, std::chars_format notation) {
  char digits[64];
  std::string_view text(digits, std::to_chars(digits, digits + sizeof digits, value, notation, 4).ptr);
  text = text.substr(0, text.find('e'));
  const auto point = text.find('.');
  if (point == text.npos) return 0;
  return static_cast<int>(text.find_last_not_of('0') - point);
}

// numpy's choice: the notation that shows the smallest and the largest number, with at most four digits after the
// point.
template <class T>
Format format_for(const BasicArray<T>& array) {
  Format format;
  if constexpr (std::floating_point<T>) {
    if (array.rank() == 0) return format;
    double least = INFINITY, most = 0;
    for_each_shown(array, 0, 0, array.size(), [&](T value) {
      const double size = std::abs(static_cast<double>(value));
      if (!std::isfinite(size) || size == 0) return;
      least = std::min(least, size);
      most = std::max(most, size);
    });
    const bool wide = most >= 1e8 || (most > 0 && (least < 1e-4 || most / least > 1e6));
    format = {.notation = wide ? std::chars_format::scientific : std::chars_format::fixed, .precision = 0};
    for_each_shown(array, 0, 0, array.size(), [&](T value) {
      if (std::isfinite(value)) format.precision = std::max(format.precision, decimals(value, format.notation));
    });
  }
  std::size_t width = 0;
  for_each_shown(array, 0, 0, array.size(), [&](T value) { width = std::max(width, written(value, format).size()); });
  if (array.rank() > 0) format.width = width;
  return format;
}

template <class T>
class Printer {
 public:
  Printer(const BasicArray<T>& array, int indent)
      : array_(array), indent_(static_cast<std::size_t>(indent)), format_(format_for(array)) {}

  std::string text() && {
    append_axis(0, 0, array_.size());
    return std::move(out_);
  }

 private:
  void new_line(std::size_t spaces) {
    out_ += '\n';
    line_begin_ = out_.size();
    out_.append(indent_ + spaces, ' ');
  }

  void append_axis(int axis, std::int64_t offset, std::int64_t stride) {
    if (axis == array_.rank()) {
      append(out_, written(array_.data()[offset], format_));
      return;
    }
    const std::int64_t size = array_.shape()[axis];
    out_ += '[';
    for (std::int64_t i = 0; i < size; ++i) {
      const bool shortened = array_.size() > shortened_from && size > 2 * edge && i == edge;
      if (i > 0) separate(axis, shortened ? 3 : format_.width);
      if (shortened) {
        append(out_, "...");
        i = size - edge - 1;
      } else {
        append_axis(axis + 1, offset + i * (stride / size), stride / size);
      }
    }
    out_ += ']';
  }

  // Separates two parts along an axis, the second of which takes `width` characters.
  void separate(int axis, std::size_t width) {
    out_ += ',';
    const auto inside = static_cast<std::size_t>(axis) + 1;
    if (axis + 1 < array_.rank()) {
      new_line(inside);
    } else if (out_.size() - line_begin_ + width + 2 > line_width) {
      new_line(inside);
    } else {
      out_ += ' ';
    }
  }

  const BasicArray<T>& array_;
  std::size_t indent_;
  Format format_;
  std::string out_;
  std::size_t line_begin_ = 0;
};

}  // namespace

std::string detail::printed(const Array& array, int indent) { return Printer<Real>(array, indent).text(); }

std::string to_string(const Array& array) { return detail::printed(array, 0); }
std::string to_string(const Index& array) { return Printer<std::int64_t>(array, 0).text(); }
std::string to_string(const Mask& array) { return Printer<bool>(array, 0).text(); }

std::ostream& operator<<(std::ostream& out, const Array& array) { return out << to_string(array); }
std::ostream& operator<<(std::ostream& out, const Index& array) { return out << to_string(array); }
std::ostream& operator<<(std::ostream& out, const Mask& array) { return out << to_string(array); }

}  // namespace xgrad
