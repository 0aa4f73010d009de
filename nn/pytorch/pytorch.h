// Everything of nn::pytorch: layers with PyTorch's parameters, options and names.
#pragma once

#include "multihead_attention.h"
