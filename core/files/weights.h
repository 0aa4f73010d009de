// Published weights: one safetensors file, or several with an index.
#pragma once

#include <string>

#include "safetensors.h"

namespace xgrad {

/// All arrays of `path`: a safetensors file; an index in JSON, whose "weight_map" names for each array the file beside
/// it that holds it; or a folder with model.safetensors or model.safetensors.index.json. Half precision is widened, as
/// by load_safetensors.
///
/// Throws as load_safetensors, for each file; IoError for a folder with neither; FormatError for an index that is not
/// JSON, repeats a key or has no weight_map of names, that names a file which is not beside it, or that does not name
/// exactly the arrays of its files; LimitError for an index of more than 100 MB.
StateFile load_weights(const std::string& path);

}  // namespace xgrad
