// Programs that only make figures for pages: each is called with its own command line.
#pragma once

#include <numeric>
#include <string>
#include <vector>

#include <xgrad/kit/program/format.h>

namespace experiments {

int attention_kinds(int argc, char** argv);
int choices(int argc, char** argv);
int compare_layers(int argc, char** argv);
int convolution_heads(int argc, char** argv);
int few_pictures(int argc, char** argv);
int first_word(int argc, char** argv);
int norm_order(int argc, char** argv);
int own_words(int argc, char** argv);
int residual(int argc, char** argv);
int reversed_source(int argc, char** argv);
int sets_of_vectors(int argc, char** argv);
int transformer_parts(int argc, char** argv);
int vision_parts(int argc, char** argv);
int windows(int argc, char** argv);
int zero_or_identity(int argc, char** argv);

/// The mean of the results of several seeds.
inline double mean(const std::vector<double>& results) {
  return std::accumulate(results.begin(), results.end(), 0.0) / static_cast<double>(results.size());
}

/// The losses of several seeds, in their order.
inline std::string of_each_seed(const std::vector<double>& losses) {
  std::string text;
  for (const double loss : losses) text += (text.empty() ? "" : " ") + xgrad::kit::fixed(loss, 3);
  return text;
}

}  // namespace experiments
