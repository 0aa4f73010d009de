// Fine-tuning: a ResNet that has learnt from many pictures learns new classes from a few. With torchvision's ResNet-18
// (docs/topics/vision.md says how to write its weights into a file) and a folder of your pictures, FOLDER/cat/1.png.
// Without them, a small ResNet first learns six kinds of drawn shapes from many pictures, and then four other kinds
// from a few. Next to it, the same network learns the few pictures from random weights.
//
//   examples/run fine_tune [--weights FILE --data FOLDER] [--pictures N] [--epochs N] [--seed N] [--out FOLDER]
#include <iostream>

#include <xgrad/kit/data/data.h>
#include <xgrad/kit/data/image_folder.h>
#include <xgrad/kit/data/shapes.h>
#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/train/trainer.h>
#include <xgrad/xgrad.h>

namespace {

using namespace xgrad;

struct Config {
  std::filesystem::path weights, data;
  std::int64_t pictures = 10;  // of each class, to learn from
  std::int64_t epochs = 12;
  double lr = 1e-3;
};

// -- data --

using Pictures = kit::ImageBatch;  // (N, 3, H, W), normalised, and labels (N)

// As the networks of torchvision have learnt from them.
const kit::Transform normalized =
    kit::normalize({.mean = {0.485, 0.456, 0.406}, .standard_deviation = {0.229, 0.224, 0.225}});

Pictures read(const kit::ImageFolder& folder) {
  kit::DataLoader all{folder, {.batch_size = folder.size(), .num_workers = 2}};
  const auto& [images, labels] = *all.begin();
  return {images, labels};
}

// Of so many drawn shapes those of the classes [from, to).
Pictures shapes(Seed seed, std::int64_t count, std::int64_t from, std::int64_t to) {
  const kit::ImageSet all = kit::draw_shapes({.seed = seed}, {.count = count, .channels = 3});
  const kit::ImageBatch some = all.batch(flatnonzero(all.labels() >= from && all.labels() < to));
  return {normalized(some.images), some.labels - from};
}

// The first `count` pictures of each class, and the others.
std::pair<Pictures, Pictures> divided(const Pictures& all, std::int64_t classes, std::int64_t count) {
  std::vector<std::int64_t> first, others, seen(classes);
  for (std::int64_t i = 0; i < all.labels.size(); ++i) {
    (seen[all.labels.at({i})]++ < count ? first : others).push_back(i);
  }
  const auto part = [&](const Index& rows) { return Pictures{all.images[rows], all.labels[rows]}; };
  return {part(index(first)), part(index(others))};
}

// -- training --

// The accuracy on the test pictures after each epoch.
kit::Series train(const std::string& name, const nn::ResNet& model, const Pictures& pictures, const Pictures& test,
                  std::int64_t epochs, double lr, Seed seed) {
  optim::AdamW adam{model.parameters(), {.lr = lr}};
  kit::DataLoader batches{kit::TensorDataset{Tensor(pictures.images), pictures.labels},
                          {.batch_size = 20, .shuffle = true, .seed = seed}};
  const auto accuracy = [&] { return mean(argmax(model(test.images), 1) == test.labels).item(); };
  kit::Trainer trainer{model,
                       adam,
                       {.epochs = epochs,
                        .schedule = optim::schedule::cosine({.steps = epochs * batches.size()}),
                        .validate = accuracy,
                        .goal = kit::Goal::greatest}};
  kit::Series curve{.name = name, .style = kit::Series::Style::marked};
  for (const kit::Report& report : trainer.fit(
           batches, [&](const Tensor&images, const Index&labels) { return cross_entropy(model(images), labels); })) {
    curve.y.push_back(report.scores.values[0].second);
  }
  return curve;
}

// The weights of another network but for its last layer, which knows other classes.
void load_all_but_head(const nn::ResNet& model, const std::filesystem::path& file) {
  NamedArrays weights = load_safetensors(file.string()).arrays;
  std::erase_if(weights, [](const auto& named) { return named.first.starts_with("fc."); });
  model.load_state_dict(weights, {.strict = false});
}

void run(const Config& config, kit::Example& example) {
  if (config.weights.empty() != config.data.empty()) throw kit::OptionError("--weights", "goes with --data");
  nn::ResNetOptions sizes = nn::resnet18();
  std::filesystem::path file = config.weights;
  Pictures pictures;
  if (file.empty()) {
    sizes.width = 16, sizes.classes = 6;
    const auto [many, unseen] = divided(shapes(example.seed, 4000, 0, 6), 6, 300);
    const nn::ResNet model{nn::root, sizes};
    const kit::Series curve = train("six classes", model, many, unseen, 3, config.lr, example.seed);
    std::cout << "six classes, " << many.labels.size() << " pictures: accuracy " << kit::fixed(curve.y.back(), 3)
              << "\n";
    nn::save(model, (file = example.out / "six_classes.safetensors").string());
    pictures = shapes(example.seed, 1500, 6, 10);
    sizes.classes = 4;
  } else {
    const kit::ImageFolder folder(config.data,
                                  kit::compose({kit::resize_shorter(128), kit::center_crop({128, 128}), normalized}));
    pictures = read(folder);
    sizes.classes = std::ssize(folder.classes());
  }

  const auto [few, test] = divided(pictures, sizes.classes, config.pictures);
  std::vector<kit::Series> curves;
  for (const bool tuned : {false, true}) {
    const nn::ResNet model{nn::root, sizes};
    if (tuned) load_all_but_head(model, file);
    curves.push_back(
        train(tuned ? "fine-tuned" : "from random weights", model, few, test, config.epochs, config.lr, example.seed));
    std::cout << curves.back().name << ", " << few.labels.size() << " pictures of " << sizes.classes
              << " classes: accuracy " << kit::fixed(curves.back().y.back(), 3) << "\n";
  }
  kit::save(
      example.out / "accuracy.svg",
      kit::line_plot(curves, {.title = str("Accuracy after learning ", config.pictures, " pictures of each class"),
                              .x_label = "epoch"}));
  example.result.add("random", curves[0].y.back()).add("fine_tuned", curves[1].y.back());
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = [](kit::Options& o, Config& c) {
    o.text("--weights", c.weights, "weights of torchvision's ResNet-18 in safetensors, with --data");
    o.text("--data", c.data, "folder with a folder of pictures for each class, with --weights");
    o.integer("--pictures", c.pictures, "pictures of each class to learn from", 1, 100'000);
    o.integer("--epochs", c.epochs, "passes over these pictures", 1, 100'000);
    o.real("--lr", c.lr, "largest learning rate", 1e-9, 10);
  };
  return kit::main<Config>(argc, argv, "fine_tune", "A ResNet that knows many pictures learns new classes from a few.",
                           options, run);
}
