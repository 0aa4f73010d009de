// Pictures of a model: its graph, that of a training step, and the same with its layers folded.
#include <filesystem>
#include <iostream>

#include <xgrad/xgrad.h>

using namespace xgrad;

int main() {
  const nn::GptOptions small{.vocabulary = 11, .context = 8, .dim = 16, .heads = 2, .layers = 3};
  const nn::Gpt model(nn::root, small);
  const Index ids = index({{1, 2, 3, 4}}), next = index({{2, 3, 4, 5}});
  const Tensor loss = cross_entropy(model(ids), next);
  save_graph("forward.svg", {loss}, {.title = "A small GPT"});
  save_graph("folded.svg", {loss}, {.title = "A small GPT, folded", .depth = 0});
  save_graph("page.html", {loss}, {.title = "A small GPT, to unfold"});
  Tensors step = grad(loss, model.parameters(), {.create_graph = true});
  step.push_back(loss);
  save_graph("step.svg", step, {.title = "A training step"});

  const auto size = [](const char* file) { return std::filesystem::file_size(file); };
  for (const char* file : {"forward.svg", "folded.svg", "page.html", "step.svg"}) {
    std::cout << file << ": " << size(file) << " bytes\n";
  }
  return size("folded.svg") < size("forward.svg") && size("step.svg") > 1000 && size("page.html") > 1000 ? 0 : 1;
}
