// Published weights: one safetensors file, or several with an index.
#pragma once

#include <string>

#include "safetensors.h"

namespace xgrad {

/// Loads all arrays of published weights. The path is a safetensors file, an index, or a folder with model.safetensors
/// or model.safetensors.index.json. An index is a JSON file whose "weight_map" names the file of each array, in the
/// folder of the index.
///
/// Throws as load_safetensors for each file. Throws IoError for a folder with neither file; LimitError for an index of
/// more than 100 MB; FormatError for an index that is not JSON, repeats a key, has no weight_map of names, names a file
/// outside its folder, or does not name exactly the arrays of its files.
StateFile load_weights(const std::string& path);

}  // namespace xgrad
