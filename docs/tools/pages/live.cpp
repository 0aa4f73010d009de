// The graphs of the annotated transformer, drawn as its page draws them; compiled with save_live in place of save_graph.
#include <filesystem>

#include "../../../examples/annotated_transformer/pictures.h"

void draw_annotated_transformer(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  annotated::draw_scores(folder);
  annotated::draw_heads(folder);
  annotated::draw_positions(folder);
  annotated::draw_sublayers(folder);
  annotated::draw_blocks(folder);
  annotated::draw_model(folder);
}
