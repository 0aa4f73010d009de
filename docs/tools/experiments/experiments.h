// Programs that only make figures for pages: each is called with its own command line.
#pragma once

namespace experiments {

int attention_kinds(int argc, char** argv);
int choices(int argc, char** argv);
int compare_layers(int argc, char** argv);
int convolution_heads(int argc, char** argv);
int few_pictures(int argc, char** argv);
int first_word(int argc, char** argv);
int norm_order(int argc, char** argv);
int own_decoder(int argc, char** argv);
int own_words(int argc, char** argv);
int residual(int argc, char** argv);
int reversed_source(int argc, char** argv);
int sets_of_vectors(int argc, char** argv);
int transformer_parts(int argc, char** argv);
int vision_parts(int argc, char** argv);
int vit_norms(int argc, char** argv);
int windows(int argc, char** argv);
int zero_or_identity(int argc, char** argv);

}  // namespace experiments
