// Probability distributions: samples, log-probabilities, entropies and divergences, with PyTorch's names.
#pragma once

#include "categorical.h"
#include "normal.h"
