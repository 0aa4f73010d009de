// Everything a model needs. Left out: <xgrad/core/array/xtensor.h> and <xgrad/ops/elementwise/fused.h>, which cost compile time.
#pragma once

#include <xgrad/core/debug/anomaly.h>
#include <xgrad/core/graph/grad.h>
#include <xgrad/core/debug/gradcheck.h>
#include <xgrad/core/diagram/render/drawing.h>
#include <xgrad/core/diagram/render/export.h>
#include <xgrad/core/diagram/view/values.h>
#include <xgrad/core/runtime/parallel.h>
#include <xgrad/core/profile/profile.h>
#include <xgrad/core/array/random.h>
#include <xgrad/core/files/safetensors.h>
#include <xgrad/nn/nn.h>
#include <xgrad/nn/pytorch/pytorch.h>
#include <xgrad/ops/ops.h>
#include <xgrad/optim/optim.h>
