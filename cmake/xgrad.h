// Everything a model needs. Left out: <xgrad/core/xtensor.h> and <xgrad/ops/fused.h>, which cost compile time.
#pragma once

#if __has_include(<xgrad/core/graph_export.h>)
#include <xgrad/core/graph_export.h>
#endif
#if __has_include(<xgrad/core/serialize.h>)
#include <xgrad/core/serialize.h>
#endif
#if __has_include(<xgrad/nn/nn.h>)
#include <xgrad/nn/nn.h>
#endif
#if __has_include(<xgrad/ops/ops.h>)
#include <xgrad/ops/ops.h>
#endif
#if __has_include(<xgrad/optim/optim.h>)
#include <xgrad/optim/optim.h>
#endif
#include <xgrad/version.h>
