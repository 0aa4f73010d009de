// Station 11, learning: the loss of a distribution over words, its gradient, and a learning rate that warms up.
//
//   11_learning [FOLDER]   writes its pictures into the folder, or into the current one
#include <filesystem>
#include <iostream>

#include <xgrad/kit/draw/heatmap.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/xgrad.h>

using namespace xgrad;

int main(int argc, char** argv) {
  const std::filesystem::path out = argc > 1 ? argv[1] : ".";
  {
    const Tensor p = tensor({{0.01, 0.02, 0.02, 0.9, 0.03, 0.02}});
    const Index thanks = index({3});
    const Tensor logits = variable(log(p), "logits");
    ValueRecorder values;
    const Tensor loss = cross_entropy(logits, thanks).named("loss");
    loss.backward();
    std::cout << loss.item() << " " << logits.grad().value() << "\n";
    save_graph(out / "11_graph.svg", {loss}, {.values = &values});

    optim::Adam adam{{logits}, {.lr = 0.1}};
    optim::Scheduler scheduler{adam, optim::schedule::warmup(5)};
    for (int step = 0; step < 10; ++step) {
      adam.step(grad(cross_entropy(logits, thanks), {logits}));
      scheduler.step();
    }
    std::cout << "after ten steps " << cross_entropy(logits, thanks).item() << "\n";
  }

  const Tensor p = tensor({{0.01, 0.02, 0.93, 0.01, 0.02, 0.01},
                           {0.01, 0.8, 0.1, 0.05, 0.01, 0.03},
                           {0.99, 0.001, 0.001, 0.001, 0.002, 0.005},
                           {0.001, 0.002, 0.001, 0.02, 0.94, 0.036},
                           {0.008, 0.009, 0.001, 0.001, 0.001, 0.98}});
  const Index target = index({2, 1, 0, 4, 5});  // i am a student <eos>
  std::cout << "word by word " << cross_entropy(log(p), target, {.reduction = Reduction::none}).value() << "\nmean "
            << cross_entropy(log(p), target).item() << "\n";
  const kit::HeatMaps maps{.title = "je suis étudiant",
                           .queries = {"i", "am", "a", "student", "<eos>"},
                           .keys = {"a", "am", "i", "thanks", "student", "<eos>"},
                           .panels = {{"what the model says", p}, {"what is right", one_hot(target, 6)}},
                           .columns = 2,
                           .scale = kit::HeatScale::shares,
                           .query_caption = "position",
                           .key_caption = "word"};
  kit::save(out / "11_picture.svg", kit::heat_map_svg(maps));
  return 0;
}
