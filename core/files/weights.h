// Published weights: one safetensors file, or several with an index.
#pragma once

#include <string>

#include "safetensors.h"

namespace xgrad {

/// All arrays of `path`. The path is a safetensors file; an index in JSON, whose "weight_map" names the file of each
/// array, in the folder of the index; or a folder with model.safetensors or model.safetensors.index.json.
///
/// Throws as load_safetensors, for each file; IoError for a folder with neither; FormatError for an index that is not
/// JSON, repeats a key, has no weight_map of names, names a file outside its folder, or does not name exactly the
/// arrays of its files; LimitError for an index of more than 100 MB.
StateFile load_weights(const std::string& path);

}  // namespace xgrad
