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
    {"compare_layers", experiments::compare_layers},
    {"convolution_heads", experiments::convolution_heads},
    {"norm_order", experiments::norm_order},
    {"residual", experiments::residual},
    {"sets_of_vectors", experiments::sets_of_vectors},
    {"transformer_parts", experiments::transformer_parts},
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
