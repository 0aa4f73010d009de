// Vision: rows F1 to F7.
#include <xgrad/kit/data/shapes.h>
#include <xgrad/kit/draw/pictures.h>

#include "gallery.h"

namespace gallery {

namespace {

nn::VisionTransformerOptions small() {
  return {.image = 28,
          .patch = 7,
          .channels = 1,
          .dim = 16,
          .heads = 2,
          .layers = 2,
          .mlp = 64,
          .classes = 10,
          .drop_path = 0.2};
}

// F1, F2: a picture becomes words.
void patches(const std::filesystem::path& out) {
  const nn::VisionTransformer model{nn::root, small()};
  const Tensor x = input("x", {1, 1, 28, 28});
  const Tensor map = model.conv_proj(x);                            // (1, 16, 4, 4)
  const Tensor words = transpose(flatten(map, 2)).named("tokens");  // (1, 16, 16)
  save_graph(out / "f2_graph.svg", {(concat({model.class_token, words}, 1) + model.encoder.pos_embedding).named("z_0")},
             {.title = "A class token and positions", .legend = false});

  const Array drawn = kit::draw_shapes(RandomKey{}, {.count = 1}).all().images;
  const Tensor cut = reshape(transpose(reshape(drawn, {4, 7, 4, 7}), 1, 2), {16, 1, 7, 7});
  kit::save(out / "f1.svg", kit::picture_grid_svg({.title = "16 patches of 7 x 7",
                                                   .images = cut.value(),
                                                   .captions = numbered(16),
                                                   .columns = 4,
                                                   .width = 56}));
}

// F3: the probability of leaving a branch out.
void vit(const std::filesystem::path& out) {
  nn::VisionTransformerOptions twelve = small();
  twelve.layers = 12;
  kit::Series drop{.style = kit::Series::Style::marked};
  const nn::VitLayers layers{nn::root, twelve};
  for (const auto& each : layers.blocks) drop.y.push_back(each->drop_path.p);
  kit::save(out / "f3.svg", kit::line_plot({drop}, {.title = "How often a branch is left out",
                                                    .x_label = "layer",
                                                    .y_label = "probability",
                                                    .width = 480,
                                                    .height = 300}));
}

// F4: the predictions of a head for pictures, after some training.
void guesses(const std::filesystem::path& out) {
  nn::VisionTransformerOptions sizes = small();
  sizes.dim = 32, sizes.patch = 4, sizes.drop_path = 0;
  const nn::VisionTransformer model{nn::root, sizes};
  const kit::ImageSet pictures = kit::draw_shapes(RandomKey{.seed = 1}, {.count = 4000});
  const kit::ImageBatch held_out = kit::draw_shapes(RandomKey{.seed = 2}, {.count = 500}).all();
  optim::Adam adam{model.parameters(), {.lr = 0.002}};
  for (std::int64_t step = 0; step < 600; ++step) {
    Index rows(Shape{64}, std::int64_t{0});
    for (std::int64_t i = 0; i < 64; ++i) rows.mutable_data()[i] = (64 * step + i) % pictures.size();
    const kit::ImageBatch batch = pictures.batch(rows);
    adam.step(grad(cross_entropy(model(batch.images), batch.labels), model.parameters()));
  }
  const nn::Eval eval(model);
  const Index guessed = argmax(model(held_out.images), 1);
  kit::save(out / "f4.svg",
            kit::confusion_svg("Predictions for 500 new pictures", kit::confusion_matrix(held_out.labels, guessed, 10),
                               pictures.classes()));
}

// F5: four neighbours become one.
void merging(const std::filesystem::path& out) {
  std::vector<kit::Series> sizes{{.name = "tokens", .style = kit::Series::Style::marked},
                                 {.name = "channels", .style = kit::Series::Style::marked}};
  const nn::SwinTransformerOptions options = nn::swin_t();
  std::int64_t side = 224 / options.patch.height, channels = options.dim;
  for (std::size_t stage = 0; stage < options.depths.size(); ++stage, side /= 2, channels *= 2) {
    sizes[0].y.push_back(static_cast<double>(side * side));
    sizes[1].y.push_back(static_cast<double>(channels));
  }
  kit::save(out / "f5.svg", kit::line_plot(sizes, {.title = "The stages of Swin-T, 224 x 224 pixels",
                                                   .x_label = "stage",
                                                   .y_label = "number",
                                                   .y_scale = kit::Scale::log,
                                                   .width = 480,
                                                   .height = 300}));
}

// F6, F7: attention within windows, and windows that move.
void windows(const std::filesystem::path& out) {
  nn::SwinTransformerOptions options;
  options.window = 7;
  const nn::SwinAttention still{nn::root, 32, 1, 0, options};
  const nn::MultiHeadAttention global{nn::root, 32, 1};
  std::vector<kit::Series> work{{.name = "global", .style = kit::Series::Style::marked},
                                {.name = "windows of 7 x 7", .style = kit::Series::Style::marked}};
  for (std::int64_t side = 7; side <= 56; side *= 2) {
    const Tensor x = input("x", {1, side, side, 32});
    for (kit::Series& series : work) series.x.push_back(static_cast<double>(side));
    work[0].y.push_back(static_cast<double>(count_operations({global(flatten(x, 1, 2))})));
    work[1].y.push_back(static_cast<double>(count_operations({still(x)})));
  }
  kit::save(out / "f6.svg", kit::line_plot(work, {.title = "Multiply-adds, 32 channels",
                                                  .x_label = "side of the map",
                                                  .y_label = "multiply-adds",
                                                  .x_scale = kit::Scale::log,
                                                  .y_scale = kit::Scale::log,
                                                  .width = 480,
                                                  .height = 300}));

  const Mask apart = nn::WindowGrid(6, 6, 3, 1).regions();  // (4, 9, 9)
  const Array numbers = where(apart, zeros({1}), ones({1})).value();
  std::vector<Panel> panels;
  for (std::int64_t w = 0; w < 4; ++w) panels.push_back({str("window ", w + 1), numbers[{w}]});
  kit::HeatMaps who = maps("Who may see whom in four windows, shifted by one", panels, 2);
  who.scale = kit::HeatScale::yes_no;
  save(out / "f7.svg", who);
}

}  // namespace

void vision(const std::filesystem::path& out) {
  patches(out);
  vit(out);
  guesses(out);
  merging(out);
  windows(out);
}

}  // namespace gallery
