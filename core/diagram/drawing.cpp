// Diagrams in files.
#include "drawing.h"

#include <algorithm>
#include <array>
#include <limits>

#include "../error.h"
#include "../files/file.h"
#include "characters.h"
#include "exchange.h"
#include "html.h"
#include "svg.h"

namespace xgrad {
namespace {

constexpr std::string_view op = "save_graph";

void write(const std::string& path, std::string_view content) { write_file_atomically(path, {&content, 1}, op); }

// The SVG as it stands, or made into another format by librsvg, so that all pictures are the same one.
std::string picture(const std::string& svg, const std::string& format) {
  if (format == "svg") return svg;
  std::vector<std::string> command{"rsvg-convert", "--format", format};
  if (format == "png") command.insert(command.end(), {"--zoom", "2"});  // letters for sharp screens, and for paper
  detail::ProgramResult result = detail::run_program(command, svg, {}, op);
  if (!result.is_there) {
    fail<IoError>(op, result.failure, ": install the package librsvg2-bin, or save as .svg, which needs dot alone");
  }
  if (!result.failure.empty()) fail<IoError>(op, result.failure, "; save as .svg instead");
  return std::move(result.output);
}

// A page holds every module unfolded, where that is not too much to be drawn.
std::string page(const Tensors& results, const GraphOptions& options, const GraphView& as_asked) {
  GraphOptions unfolded = options;
  unfolded.depth = std::numeric_limits<int>::max();
  try {
    const GraphView view = GraphView::of(results, unfolded, op);
    return to_html(view, GraphLayout::of(view, unfolded, {}, op), options);
  } catch (const LimitError&) {
  } catch (const IoError&) {
  }
  return to_html(as_asked, GraphLayout::of(as_asked, options, {}, op), options);
}

}  // namespace

void save_graph(const std::string& path, const Tensors& results, const GraphOptions& options) {
  static constexpr std::array extensions{"dot", "txt", "json", "mmd", "svg", "pdf", "png", "html"};
  const std::size_t dot = path.rfind('.');
  const std::string extension = dot == path.npos ? std::string() : path.substr(dot + 1);
  if (std::ranges::find(extensions, extension) == extensions.end()) {
    fail<ValueError>(op, "the extension of '", path, "' is none of .dot, .svg, .pdf, .png, .html, .mmd, .json, .txt");
  }
  const GraphView view = GraphView::of(results, options, op);
  if (extension == "txt") return write(path, to_text(view));
  if (extension == "json") return write(path, to_json(view));
  if (extension == "mmd") return write(path, to_mermaid(view, options));
  if (extension == "dot") return write(path, to_dot(view, options));
  std::string drawn;
  try {
    drawn = extension == "html" ? page(results, options, view)
                                : to_svg(view, GraphLayout::of(view, options, {}, op), options);
  } catch (const IoError& error) {
    const std::string instead = path.substr(0, dot) + ".dot";
    write(instead, to_dot(view, options));
    throw IoError(cat(error.what(), "\n  the graph is in '", instead, "' instead, in the language of Graphviz"));
  }
  write(path, extension == "html" ? drawn : picture(drawn, extension));
}

}  // namespace xgrad
