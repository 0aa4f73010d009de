// Published models: reading options and weights in the format of the package `transformers`.
//
//     const nn::Gpt model{nn::root, nn::gpt2_options("gpt2")};          // a folder with config.json
//     nn::load_gpt2(model, "gpt2");                                     // and model.safetensors
#pragma once

#include <string>

#include "bert.h"
#include "gpt.h"
#include "llama.h"

namespace xgrad::nn {

/// The options of a model from its config.json, or from a directory with this file; dropout is 0. Throws FormatError,
/// which names the entry, if an entry is missing, has a wrong value, or asks for a feature that the model lacks. Throws
/// LimitError if the file is larger than a megabyte, and IoError.
///
/// If the file has `model_type`, it must match the model, because other families use the same names for other arrays.
/// llama_options accepts `llama`, with or without the rotary positions of Llama 3.1; `mistral`, whose `sliding_window`
/// is 4096 if not given; and `qwen2` without a sliding window.
///
/// `architectures` determines the head of a BERT. BertForMaskedLM, BertForPreTraining and a file without this entry
/// predict words. BertModel, which sentence encoders use, has a pooler. BertForSequenceClassification has as many
/// classes as `id2label` has labels. All others have no head, BertHead::none.
GptOptions gpt2_options(const std::string& path);
LlamaOptions llama_options(const std::string& path);
BertOptions bert_options(const std::string& path);

/// Loads weights into a model from a file, from several files with an index, or from a directory with them: see
/// load_weights. The names may start with `transformer.`, `model.` or `bert.`. Throws FormatError, which lists all
/// names that are missing, unexpected or of another shape or kind, and what load_weights throws. Nothing is loaded if
/// it throws.
///
/// Files of GPT-2 store the matrices transposed. The head shares the weight of the embedding. If the file also has a
/// head, both must have equal values.
void load_gpt2(const Gpt& model, const std::string& path);
/// The same for Llama. The maps of queries, keys and values are joined into one.
void load_llama(const Llama& model, const std::string& path);
/// The same for BERT. Weights for next-sentence prediction are skipped, and so is a pooler that the model lacks. If the
/// model does not predict words, all heads that it lacks are skipped, too. So BertHead::none loads the encoder of any
/// file.
void load_bert(const Bert& model, const std::string& path);

}  // namespace xgrad::nn
