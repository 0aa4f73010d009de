// What one word of a sentence attends to, in one picture.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <xgrad/core/array/array.h>
#include <xgrad/kit/draw/svg.h>

namespace xgrad::kit {

/// The numbers of attention of one word, in H heads, when S words were read.
struct WordReading {
  std::vector<std::string> words;  ///< S of them
  Array q;                         ///< (H, d): the query of the word
  Array k, v;                      ///< (H, S, d): of all words
  Array weights;                   ///< (H, S): softmax(q k' / sqrt(d))
  std::string answer = {};         ///< what the model says the word is
};

/// One word of a sentence, of which more and more is read.
struct WordAttention {
  std::string title = {};                 ///< of the picture
  std::int64_t word = 0;                  ///< its place
  std::vector<WordReading> growing = {};  ///< the last one is of the whole sentence
  WordReading other = {};                 ///< of the same sentence with another last word
  std::int64_t head = 0;                  ///< the head that is shown first, and word by word
};

/// What the word attends to, as SVG: lines from it, as wide as the weight, a colour for each head; below the sentence
/// those for its other end; one head's weights word by word; queries, keys and values as cells. It moves for at most 12
/// seconds where the reader allows motion: one head, the next, all, the other end. Throws ShapeError unless the arrays
/// fit the words, ValueError for a word or head that is not there.
std::string word_attention_svg(const WordAttention& attention);

}  // namespace xgrad::kit
