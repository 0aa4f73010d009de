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

/// The samples of an epoch of a DataLoader. `draw` is called as each epoch begins; its random numbers come from this
/// thread's generator (randperm, multinomial), which then depends on the loader's seed and the number of the epoch
/// alone.
///
/// Threads: as `draw`; those below may be called by many.
struct Sampler {
  std::int64_t size = 0;             ///< samples in an epoch
  std::function<Index()> draw = {};  ///< their numbers (size), each any number of times
  std::string name = {};             ///< saved in the state of a loader, which another sampler's loader refuses
};

/// `count` samples an epoch, of which each is number i with probability weights_i / sum of weights; without
/// replacement, by default with it, none comes twice. weights (N) are one for each sample. Throws as multinomial().
Sampler weighted_random_sampler(const Tensor& weights, std::int64_t count,
                                const MultinomialOptions& options = {.replacement = true});

/// The samples with these numbers (N), in a new order every epoch. Throws ShapeError unless they are a list.
Sampler subset_random_sampler(const Index& rows);

}  // namespace xgrad::kit
