// Writes pages that html_long.sh opens in a browser into a folder, beside those of docs/tools/pages: a run filled in by
// hand, one without steps, one whose every text is hostile, and graphs that are large and played.
//
//   xgrad_pages FOLDER
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>

#include <xgrad/core/diagram/render/html.h>
#include <xgrad/xgrad.h>

#include "core/diagram/render/small_run.h"

using namespace xgrad;

namespace {

// Each would set window.hacked, were it ever read as anything but text.
const std::string hostile =
    "\"'></title></script></style></svg>--><script nonce=page>window.hacked=1</script><img src=x "
    "onerror=\"window.hacked=1\"><svg onload=window.hacked=1>\\u003cscript>window.hacked=1</script>${window.hacked=1}"
    "\n{{script}}\xff\xe2\x80\xa8\xe2\x80\xa9" +
    std::string(1, '\0');

GraphView hostile_run() {
  GraphView view = testing::small_run();
  for (std::string* text : testing::texts_of(view)) *text += hostile;
  for (GraphVertex& vertex : view.vertices) {
    vertex.text.attributes.emplace_back(hostile, hostile);
    vertex.text.attributes.emplace_back("__proto__", hostile);
  }
  return view;
}

struct Residual : nn::Layer<Residual> {
  explicit Residual(nn::At here) : Layer(std::move(here)) {}
  nn::Linear fc1{at("fc1"), 2, 2}, fc2{at("fc2"), 2, 2};
  Tensor forward(const Tensor& x) const { return x + fc2(tanh(fc1(x))); }
};

// 20,000 vertices in 2,500 blocks, each drawn.
void save_large(const std::filesystem::path& folder) {
  const nn::Stack<Residual> blocks{nn::root, 2500};
  const Tensor y = blocks(zeros({1, 2}).named("x")).named("y");
  const auto start = std::chrono::steady_clock::now();
  save_graph(folder / "large.html", {y}, {.roll_up = false, .max_nodes = 30000});
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  std::cout << "20,000 vertices: written in " << time.count() << " s\n";
}

void save_played(const std::filesystem::path& folder) {
  const nn::EncoderDecoder model{nn::root, 20, 22, {.dim = 8, .ffn = 16, .heads = 2, .layers = 2}};
  const Index source({2, 5}, std::int64_t{1}), lengths(Shape{2}, std::int64_t{5}), target({2, 4}, std::int64_t{2});
  const Tensor loss = cross_entropy(model(source, lengths, target), target).named("loss");
  GraphView played = GraphView::of({loss}, {.depth = 99});
  testing::fill_run(played);
  std::ofstream(folder / "played.html") << to_html(played, {.title = "A transformer, step by step"});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "pages FOLDER\n";
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  const auto write = [&](const char* name, const GraphView& view, const GraphOptions& options) {
    std::ofstream(folder / name, std::ios::binary) << to_html(view, options);
  };
  write("run.html", testing::small_run(), {.title = "A small run", .depth = 9});
  GraphView plain = testing::small_run();
  for (GraphVertex& vertex : plain.vertices) vertex.record.step = vertex.record.gradient_step = -1;
  for (GraphVertex& vertex : plain.vertices) vertex.record.value = vertex.record.gradient = {};
  for (GraphEdge& edge : plain.edges) edge.gradient = {};
  write("plain.html", plain, {.depth = 1});
  write("hostile.html", hostile_run(), {.title = hostile, .depth = 9});
  save_played(folder);
  save_large(folder);
}
