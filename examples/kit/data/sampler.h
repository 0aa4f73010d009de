// Samplers: which samples an epoch has, and in which order.
//
//     kit::DataLoader loader{data, {.batch_size = 50, .sampler = kit::weighted_random_sampler(weights, 1000)}};
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <xgrad/core/graph/tensor.h>
#include <xgrad/ops/arrange/sample.h>

namespace xgrad::kit {

/// What a DataLoader takes as the samples of an epoch. `draw` is called as each epoch begins; what is random in it
/// comes from this thread's generator (randperm, multinomial), which then depends on the loader's seed and the number
/// of the epoch alone.
///
/// Threads: as `draw`; those below may be called by many.
struct Sampler {
  std::int64_t size = 0;             ///< samples in an epoch
  std::function<Index()> draw = {};  ///< their numbers (size), each any number of times
  std::string name = {};             ///< stands in the state of a loader, which one with another name refuses
};

/// `count` samples an epoch, of which each is number i with probability weights_i / sum of weights; without
/// replacement, by default with it, none comes twice. weights (N) are one for each sample. Throws as multinomial().
Sampler weighted_random_sampler(const Tensor& weights, std::int64_t count,
                                const MultinomialOptions& options = {.replacement = true});

/// The samples with these numbers (N), in a new order every epoch. Throws ShapeError unless they are a list.
Sampler subset_random_sampler(const Index& rows);

}  // namespace xgrad::kit
