// Published weights: one safetensors file, or several with an index.
#pragma once

#include <string>

#include "safetensors.h"

namespace xgrad {

/// All arrays of `path`: a safetensors file; an index in JSON, whose "weight_map" says for each array which file beside
/// it holds it; or a folder with model.safetensors or model.safetensors.index.json. What is stored in half precision is
/// widened, as load_safetensors does it.
///
/// Throws as load_safetensors, for each file; IoError for a folder with neither; FormatError for an index that is not
/// JSON, says something twice or has no weight_map of names, that names a file which is not beside it, or that does not
/// name exactly the arrays of its files; LimitError for one beyond the options, whose limits on a header and on arrays
/// hold for it, too.
StateFile load_weights(const std::string& path, const LoadOptions& options = {});

}  // namespace xgrad
