// Diagrams in files; pictures through Graphviz.
#include "drawing.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>

#ifdef XGRAD_WITH_GRAPHVIZ
#include <graphviz/gvc.h>
#endif

#include "../files/file.h"

extern char** environ;

namespace xgrad {
namespace {

// A file that has no name and is gone when it is closed.
class ScratchFile {
 public:
  ScratchFile() : file_(std::tmpfile()) {
    if (!file_) fail<IoError>("save_graph", "no temporary file: ", std::strerror(errno));
  }
  ~ScratchFile() { std::fclose(file_); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  int descriptor() const { return fileno(file_); }
  void write(std::string_view text) {
    const bool good = std::fwrite(text.data(), 1, text.size(), file_) == text.size() && std::fflush(file_) == 0;
    if (!good) fail<IoError>("save_graph", "temporary file: ", std::strerror(errno));
    std::rewind(file_);
  }
  std::string read() {
    std::string text;
    std::array<char, 1 << 14> block;
    std::rewind(file_);
    while (const std::size_t count = std::fread(block.data(), 1, block.size(), file_)) text.append(block.data(), count);
    return text;
  }

 private:
  std::FILE* file_;
};

#ifdef XGRAD_WITH_GRAPHVIZ
// Nothing if this Graphviz has no plugin for the format.
std::string drawn_in_process(const std::string& dot, const char* format) {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  agseterrf([](char*) { return 0; });  // what goes wrong is seen from the result
  // Never freed: Graphviz 2.42 compares a font's name with one that it kept from the context before.
  static GVC_t* const context = gvContext();
  const std::unique_ptr<Agraph_t, int (*)(Agraph_t*)> graph(agmemread(dot.c_str()), agclose);
  std::string picture;
  if (context && graph && gvLayout(context, graph.get(), "dot") == 0) {
    char* data = nullptr;
    unsigned int size = 0;
    if (gvRenderData(context, graph.get(), format, &data, &size) == 0 && data) picture.assign(data, size);
    gvFreeRenderData(data);
    gvFreeLayout(context, graph.get());
  }
  return picture;
}
#else
std::string drawn_in_process(const std::string&, const char*) { return {}; }
#endif

std::string drawn_by_program(const std::string& dot, const char* format) {
  ScratchFile input, output, complaints;
  input.write(dot);
  const std::string option = cat("-T", format);
  std::array<char*, 3> arguments{const_cast<char*>("dot"), const_cast<char*>(option.c_str()), nullptr};
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, input.descriptor(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, output.descriptor(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, complaints.descriptor(), STDERR_FILENO);
  pid_t child = 0;
  const int error = posix_spawnp(&child, "dot", &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) {
    fail<IoError>("save_graph", "cannot run the program dot (", std::strerror(error),
                  "): install the package graphviz, or save as .dot, which needs nothing");
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  std::string picture = output.read();
  if (status != 0 || picture.empty())
    fail<IoError>("save_graph", "dot could not draw the graph: ", detail::printable(complaints.read()));
  return picture;
}

std::string drawn(const std::string& dot, const char* format) {
  std::string picture = drawn_in_process(dot, format);
  return picture.empty() ? drawn_by_program(dot, format) : picture;
}

}  // namespace

void save_graph(const std::string& path, const Tensors& results, const GraphOptions& options) {
  static constexpr std::array pictures{"svg", "pdf", "png"};
  const std::size_t dot = path.rfind('.');
  const std::string_view extension = dot == path.npos ? std::string_view() : std::string_view(path).substr(dot + 1);
  const auto picture = std::ranges::find(pictures, extension);
  if (extension != "dot" && extension != "txt" && picture == pictures.end()) {
    fail<ValueError>("save_graph", "the extension of '", path, "' is none of .dot, .svg, .pdf, .png, .txt");
  }
  const GraphView view = GraphView::of(results, options, "save_graph");
  std::string text = extension == "txt" ? to_text(view) : to_dot(view, options);
  if (picture != pictures.end()) text = drawn(text, *picture);
  const std::string_view content = text;
  write_file_atomically(path, {&content, 1}, "save_graph");
}

}  // namespace xgrad
