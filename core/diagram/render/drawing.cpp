// Diagrams in files.
#include "drawing.h"

#include <algorithm>
#include <array>
#include <limits>

#include "../../base/error.h"
#include "../../files/file.h"
#include "html.h"
#include "program.h"
#include "svg.h"

namespace xgrad {
namespace {

constexpr std::string_view op = "save_graph";

// The SVG itself, or converted to another format by librsvg, so that all pictures are the same.
std::string picture(const std::string& svg, const std::string& format) {
  if (format == "svg") return svg;
  std::vector<std::string> command{"rsvg-convert", "--format", format};
  if (format == "png") command.insert(command.end(), {"--zoom", "2"});  // for sharp screens and paper
  return detail::run_program(command, svg, op, ": install the package librsvg2-bin, or save as .svg");
}

// For a page: with every module unfolded, or as asked if that is too large.
GraphView unfolded_view(const Tensors& results, const GraphOptions& options) {
  GraphOptions unfolded = options;
  if (options.depth >= automatic_depth) unfolded.depth = std::numeric_limits<int>::max();
  try {
    return GraphView::of(results, unfolded, op);
  } catch (const LimitError&) {
    return GraphView::of(results, options, op);
  }
}

// The extension of a path, if it is a known one.
std::string_view extension_of(std::string_view path) {
  static constexpr std::array<std::string_view, 7> extensions{".dot", ".txt", ".json", ".svg", ".pdf", ".png", ".html"};
  const auto found =
      std::ranges::find_if(extensions, [&](std::string_view extension) { return path.ends_with(extension); });
  if (found == extensions.end()) {
    fail<ValueError>(op, "the extension of '", path, "' is none of .dot, .svg, .pdf, .png, .html, .json, .txt");
  }
  return *found;
}

}  // namespace

void save_graph(const std::string& path, const Tensors& results, const GraphOptions& options) {
  const bool is_page = extension_of(path) == ".html";
  save_view(path, is_page ? unfolded_view(results, options) : GraphView::of(results, options, op), options);
}

void save_view(const std::string& path, const GraphView& view, const GraphOptions& options) {
  const std::string_view extension = extension_of(path);
  if (extension == ".txt") return write_file_atomically(path, to_text(view), op);
  if (extension == ".json") return write_file_atomically(path, to_json(view), op);
  if (extension == ".dot") return write_file_atomically(path, to_dot(view, options), op);
  if (extension == ".html") return write_file_atomically(path, to_html(view, options), op);
  write_file_atomically(path, picture(to_svg(view, options), std::string(extension.substr(1))), op);
}

}  // namespace xgrad
