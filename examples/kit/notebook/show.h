// The value of a cell's last expression, as text or as a picture. Read by the kernel before the first cell. Private.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <ostream>
#include <ranges>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <xgrad/core/diagram/render/svg.h>
#include <xgrad/xgrad.h>
#ifndef XGRAD_F64  // the kit is there in float alone
#include <xgrad/kit/data/images.h>
#include <xgrad/kit/draw/heatmap.h>
#include <xgrad/kit/draw/pictures.h>
#include <xgrad/kit/draw/plot.h>
#endif

/// Of the kernel: shows a text of this MIME type under the cell.
extern "C" void xgrad_notebook_show(const char* mime, const char* text, std::size_t size);

namespace xgrad::notebook {

/// An SVG, which is shown as a picture.
struct Picture {
  std::string svg;
};

/// The graph of everything that the results depend on, as save_graph draws it: the last line of a cell, `draw(loss)`.
inline Picture draw(const Tensors& results, const GraphOptions& options = {}) {
  return {to_svg(GraphView::of(results, options, "draw"), options)};
}
inline Picture draw(const Tensor& result, const GraphOptions& options = {}) { return draw(Tensors{result}, options); }
inline Picture draw(const GraphView& view, const GraphOptions& options = {}) { return {to_svg(view, options)}; }

namespace detail {

template <class T>
concept Streamable = requires(std::ostream& out, const T& value) {
  out << value;
};
template <class T>
concept Pair = requires {
  typename std::tuple_size<T>::type;
};

template <class T>
void write(std::ostream& out, const T& value);

template <class Range>
void write_range(std::ostream& out, const Range& values) {
  constexpr std::size_t most = 100;
  std::size_t count = 0;
  out << '{';
  for (const auto& value : values) {
    if (count == most) {
      out << ", ...";
      break;
    }
    if (count++ > 0) out << ", ";
    write(out, value);
  }
  out << '}';
}

template <class T>
void write(std::ostream& out, const T& value) {
  if constexpr (std::same_as<T, bool>) {
    out << (value ? "true" : "false");
  } else if constexpr (Streamable<T>) {
    out << value;
  } else if constexpr (std::ranges::input_range<const T>) {
    write_range(out, value);
  } else if constexpr (Pair<T>) {
    out << '(';
    std::apply(
        [&](const auto&... parts) {
          std::size_t count = 0;
          ((out << (count++ > 0 ? ", " : ""), write(out, parts)), ...);
        },
        value);
    out << ')';
  } else {
    out << "(a value that has no operator<<)";
  }
}

#ifndef XGRAD_F64
/// Pictures (N, 1 or 3, H, W) from the darkest to the brightest value, under their labels.
inline std::string pictures(const Array& images, const Index& labels) {
  const auto [low, high] = std::ranges::minmax_element(images);
  const double from = *low, width = *high - *low;
  Array grey = images;
  const bool fits = from >= 0 && *high <= 1;
  Real* const values = grey.mutable_data();
  for (std::int64_t i = 0; !fits && width > 0 && i < grey.size(); ++i)
    values[i] = static_cast<Real>((values[i] - from) / width);
  kit::PictureGrid grid{.images = grey};
  for (const auto label : labels) grid.captions.push_back(std::to_string(label));
  return kit::picture_grid_svg(grid);
}
template <class T>
bool has_pictures(const T& images, const Index& labels) {
  return images.rank() == 4 && (images.dim(1) == 1 || images.dim(1) == 3) && labels.rank() == 1 &&
         labels.dim(0) == images.dim(0);
}
#endif

inline void show_text(std::string_view text) {
  const char* mime = "text/plain";
  if (text.starts_with("<svg") || (text.starts_with("<?xml") && text.find("<svg") < 300)) mime = "image/svg+xml";
  if (text.starts_with("<!DOCTYPE html") || text.starts_with("<!doctype html") || text.starts_with("<html"))
    mime = "text/html";
  xgrad_notebook_show(mime, text.data(), text.size());
}

}  // namespace detail

/// Shows a value under the cell.
template <class T>
void show(const T& value) {
  if constexpr (std::convertible_to<const T&, std::string_view>) {
    detail::show_text(value);
  } else if constexpr (std::same_as<T, Picture>) {
    detail::show_text(value.svg);
  } else if constexpr (std::same_as<T, GraphView>) {
    detail::show_text(to_svg(value));
#ifndef XGRAD_F64
  } else if constexpr (std::same_as<T, kit::HeatMaps>) {
    detail::show_text(kit::heat_map_svg(value));
  } else if constexpr (std::same_as<T, kit::Series>) {
    detail::show_text(kit::line_plot({value}));
  } else if constexpr (std::same_as<T, std::vector<kit::Series>>) {
    detail::show_text(kit::line_plot(value));
  } else if constexpr (std::same_as<T, kit::PictureGrid>) {
    detail::show_text(kit::picture_grid_svg(value));
  } else if constexpr (std::same_as<T, kit::ImageBatch>) {
    detail::show_text(detail::pictures(value.images, value.labels));
  } else if constexpr (std::same_as<T, std::pair<Tensor, Index>>) {
    if (detail::has_pictures(value.first, value.second))
      return detail::show_text(detail::pictures(value.first.value(), value.second));
    show(std::tie(value.first, value.second));
#endif
  } else if constexpr (std::derived_from<T, std::ostream>) {
    // std::cout << ...: has been shown
  } else {
    std::ostringstream out;
    detail::write(out, value);
    detail::show_text(out.str());
  }
}

/// `Show(), expression` shows the value, if it has one: of an expression of type void the comma is the language's.
struct Show {
  template <class T>
  friend void operator,(Show, const T& value) {
    show(value);
  }
};

}  // namespace xgrad::notebook

using xgrad::notebook::draw;
using xgrad::notebook::show;
