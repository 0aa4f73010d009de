// Runs the experiment that the first argument names.
//
//   docs/tools/run norm_order [--seeds N] [--out FOLDER] ...
#include <iostream>
#include <string_view>
#include <utility>

#include "experiments.h"

namespace {

constexpr std::pair<std::string_view, int (*)(int, char**)> all[] = {
    {"attention_kinds", experiments::attention_kinds},
    {"choices", experiments::choices},
    {"compare_layers", experiments::compare_layers},
    {"convolution_heads", experiments::convolution_heads},
    {"few_pictures", experiments::few_pictures},
    {"first_word", experiments::first_word},
    {"norm_order", experiments::norm_order},
    {"own_decoder", experiments::own_decoder},
    {"own_words", experiments::own_words},
    {"residual", experiments::residual},
    {"reversed_source", experiments::reversed_source},
    {"sets_of_vectors", experiments::sets_of_vectors},
    {"transformer_parts", experiments::transformer_parts},
    {"vision_parts", experiments::vision_parts},
    {"vit_norms", experiments::vit_norms},
    {"windows", experiments::windows},
    {"zero_or_identity", experiments::zero_or_identity}};

}  // namespace

int main(int argc, char** argv) {
  for (const auto& [name, run] : all) {
    if (argc > 1 && argv[1] == name) return run(argc - 1, argv + 1);
  }
  std::cerr << "usage: experiments NAME ARGUMENT..., with one of these names:";
  for (const auto& [name, run] : all) std::cerr << " " << name;
  std::cerr << "\n";
  return 2;
}
