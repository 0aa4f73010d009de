// A variational autoencoder on drawn shapes, or on files such as those of Fashion-MNIST. It reconstructs pictures from
// a few numbers, draws new ones, and interpolates between two; with two numbers (--latent 2) it draws all on a plane.
//
//   examples/run vae [--data FOLDER | --fashion-mnist] [--latent N] [--epochs N] [--batch N] [--lr RATE] [--seed N]
//   [--out FOLDER]
#include <cmath>
#include <iostream>

#include <xgrad/kit/data/data_loader.h>
#include <xgrad/kit/draw/pictures.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/train/classifier.h>
#include <xgrad/kit/train/trainer.h>
#include <xgrad/xgrad.h>

#include "model.h"

namespace {

using namespace vae;

struct Settings {
  std::string data;
  Config model;
  std::int64_t epochs = 40;
  std::int64_t batch = 100;
  double learning_rate = 3e-3;
};

constexpr std::int64_t shown = 30;  // pictures

/// The bound and its parts, means over the pictures of a set, without a graph.
kit::Scores measured(const Vae& model, const kit::ImageSet& set) {
  const NoGrad no_graph;
  const Bound bound = model(set.all().images);
  const auto mean_of = [](const Tensor& x) { return xgrad::mean(x).item(); };
  return {
      {"-ELBO", -mean_of(bound.elbo())}, {"reconstruction", mean_of(bound.reconstruction)}, {"KL", mean_of(bound.kl)}};
}

void save_pictures(const std::filesystem::path& path, const std::string& title, const Tensor& images,
                   std::size_t columns, double width) {
  const Array light = clamp(images, {.min = 0, .max = 1}).value();
  kit::save(path, kit::picture_grid_svg({.title = title, .images = light, .columns = columns, .width = width}));
}

/// The pictures of a grid on the plane of two latent numbers, as dense as the z of p(z) lie.
Tensor plane(const Vae& model, std::int64_t side) {
  std::vector<Real> quantiles;
  for (std::int64_t i = 0; i < side; ++i) quantiles.push_back(normal_quantile((i + 0.5) / side));
  const Tensor line = tensor(quantiles), grid = stack(meshgrid({line, line}, {MeshIndexing::xy}), -1);
  return model.decode(flatten(grid, 0, 1)).mean();
}

void draw(const std::filesystem::path& out, const Vae& model, const kit::ImageSet& set, std::int64_t latent) {
  const NoGrad no_graph;
  constexpr std::int64_t columns = 10;
  Tensors rows;
  for (std::int64_t first = 0; first < shown; first += columns) {
    const Tensor x = set.batch(arange(first, first + columns)).images;
    rows.push_back(x);
    rows.push_back(model.decode(model.encode(x).mean()).mean());
  }
  save_pictures(out / "reconstructions.svg", "Pictures, and below each what its z gives back", concat(rows), columns,
                56);
  const Tensor ends = model.encode(set.batch(arange(12)).images).mean(), share = unsqueeze(linspace(0, 1, columns), 1);
  Tensors ways;
  for (std::int64_t i = 0; i < 12; i += 2) ways.push_back(model.decode(lerp(ends[{i}], ends[{i + 1}], share)).mean());
  save_pictures(out / "between.svg", "From one picture to another, in a straight line of z", concat(ways), columns, 56);
  save_pictures(out / "samples.svg", "Pictures of z drawn from Normal(0, 1)",
                model.decode(Normal(zeros({latent}), 1).sample({shown})).mean(), columns, 56);
  if (latent == 2) save_pictures(out / "plane.svg", "The plane of z", plane(model, 15), 15, 32);
}

void run(const Settings& settings, kit::Example& example) {
  const kit::ImageData data = kit::image_data(settings.data, example.seed);
  if (data.test.size() < shown) {
    fail<ValueError>("vae", "the folder has ", data.test.size(), " test pictures; expected ", shown,
                     " or more to draw");
  }
  const Shape& all = data.train.shape();
  const Vae model(nn::root, {all[1], all[2], all[3]}, settings.model);
  std::cout << model << data.train.size() << " pictures to train, " << data.test.size() << " to test\n";

  optim::Adam adam{model.parameters(), {.lr = settings.learning_rate}};
  kit::DataLoader batches{data.train, {.batch_size = settings.batch, .shuffle = true}};
  kit::Trainer trainer{model,
                       adam,
                       {.epochs = settings.epochs,
                        .schedule = optim::schedule::cosine({.steps = settings.epochs * batches.size()}),
                        .validate = [&] { return measured(model, data.test); },
                        .folder = example.out}};
  trainer.fit(batches, [&](const kit::ImageBatch& batch) { return -xgrad::mean(model(batch.images).elbo()); });

  draw(example.out, model, data.test, settings.model.latent);
  const kit::Scores scores = trainer.history().back().scores;
  const double elbo = -scores.values[0].second, noise = std::exp(static_cast<double>(model.log_noise.item()));
  std::cout << "test pictures: ELBO " << kit::fixed(elbo, 1) << " = reconstruction "
            << kit::fixed(scores.values[1].second, 1) << " - KL " << kit::fixed(scores.values[2].second, 1)
            << "; noise " << kit::fixed(noise, 3) << "\n";
  example.result.add("elbo", elbo)
      .add("reconstruction", scores.values[1].second)
      .add("kl", scores.values[2].second)
      .add("noise", noise);
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = [](kit::Options& o, Settings& c) {
    o.text("--data", c.data,
           "folder with IDX files, or with a folder of pictures for each class; drawn shapes without");
    o.integer("--latent", c.model.latent, "numbers that a picture comes from", 1, 1000);
    o.integer("--hidden", c.model.hidden, "hidden features", 1, 100'000);
    o.integer("--epochs", c.epochs, "times that every picture is seen", 1, 1'000'000);
    o.integer("--batch", c.batch, "pictures of a step", 1, 1'000'000);
    o.real("--lr", c.learning_rate, "largest learning rate", 1e-9, 10);
  };
  return kit::main<Settings>(argc, argv, "vae", "A variational autoencoder: pictures from a few numbers.", options,
                             run);
}
