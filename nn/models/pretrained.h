// Published models: options and weights as the package `transformers` saves them.
//
//     const nn::Gpt model{nn::root, nn::gpt2_options("gpt2")};          // a folder with config.json
//     nn::load_gpt2(model, "gpt2");                                     // and model.safetensors
#pragma once

#include <string>

#include "bert.h"
#include "gpt.h"
#include "llama.h"

namespace xgrad::nn {

/// The options of a model from its config.json, or from the folder with it; dropout is 0. Throw FormatError, with the
/// name of the entry, if an entry is missing, has a wrong value, or asks for a feature that this model lacks;
/// LimitError if the file is larger than a megabyte; IoError.
///
/// `model_type`, if there is one, must be that of the model, because other families use the same names for other
/// arrays. llama_options takes `llama`, with or without the rotary positions of Llama 3.1; `mistral`, with a
/// `sliding_window` of 4096 where none is given; and `qwen2` without a sliding window.
///
/// `architectures` decides the head of a BERT. BertForMaskedLM, BertForPreTraining and a config without this entry fill
/// in words; BertModel, which sentence encoders use, has a pooler; BertForSequenceClassification has as many classes as
/// `id2label` has labels. All others have no head, BertHead::none.
GptOptions gpt2_options(const std::string& path);
LlamaOptions llama_options(const std::string& path);
BertOptions bert_options(const std::string& path);

/// Give a model the weights of a file, of several with an index, or of the folder with them: see load_weights. Names
/// may begin with `transformer.`, `model.` or `bert.`, or not. Throw FormatError with all names that are missing,
/// unexpected or of another shape or kind, as they are in the file, and as load_weights; then nothing was loaded.
///
/// GPT-2's maps are stored transposed; its head is the embedding, which the file may repeat, but not with other
/// numbers.
void load_gpt2(const Gpt& model, const std::string& path);
/// Queries, keys and values become one map.
void load_llama(const Llama& model, const std::string& path);
/// The same. Weights for next-sentence prediction are skipped, and so is a pooler that the model lacks, and, unless the
/// model fills in words, every other head: BertHead::none loads the encoder of any file.
void load_bert(const Bert& model, const std::string& path);

}  // namespace xgrad::nn
