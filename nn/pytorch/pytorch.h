// Everything of nn::pytorch: the layers with PyTorch's parameters, options and names.
#pragma once

#include "multihead_attention.h"
#include "transformer.h"
