// Exercise 32: Fine-tune a small GPT. Fine-tuning, docs/topics/language_models.md
//
// A GPT with 2 blocks has learned sentences of five subjects, by Adam with the rate 0.003:
//
//     court: the brave knight serves the wise king .
//
// Fine-tune it to a sixth subject, of which you have 32 sentences. The loss on new sentences of this subject is 4.5,
// and has to fall below 1.5. But the model forgets: the loss on the first five subjects is 0.86, and has to stay below
// 1.15. Their sentences are gone, as those of a published model are. You choose what is trained, by the names of the
// parameters, the learning rate, and the number of steps. The parameters that you leave out are frozen.
//
//     tuning.parameters     pairs (name, leaf): embedding.weight, positions.weight, norm.weight, norm.bias, and for each
//                           block norm1, attn.qkv, attn.o, norm2, ffn.fc1 and ffn.fc2: blocks.0.attn.qkv.weight
//     tuning.text           the 32 sentences            tuning.held_out   32 others, to judge by: never train on them
//     tuning.loss(text)     the mean loss of a word of these sentences, for the values of the parameters now
//
// Operations: name.starts_with("blocks."); optim::Adam adam{trained, {.lr = ...}}, where trained is a list, Tensors;
// adam.step(grad(loss, trained)); loss.item().
#include <xgrad/optim/optimizers/adam.h>

#include "exercises.h"

using namespace xgrad;
using namespace xgrad::exercises;

void fine_tune_gpt(const Tuning& tuning) {
  // your lines
}
