// Everything a model needs. Left out: <xgrad/core/xtensor.h> and <xgrad/ops/fused.h>, which cost compile time.
#pragma once

#include <xgrad/core/anomaly.h>
#include <xgrad/core/checkpoint.h>
#include <xgrad/core/grad.h>
#include <xgrad/core/gradcheck.h>
#include <xgrad/core/diagram/compare.h>
#include <xgrad/core/diagram/drawing.h>
#include <xgrad/core/diagram/error_drawing.h>
#include <xgrad/core/diagram/exchange.h>
#include <xgrad/core/diagram/overlays.h>
#include <xgrad/core/diagram/source_lines.h>
#include <xgrad/core/diagram/values.h>
#include <xgrad/core/parallel.h>
#include <xgrad/core/profile.h>
#include <xgrad/core/random.h>
#include <xgrad/core/files/safetensors.h>
#include <xgrad/core/timing.h>
#include <xgrad/core/why_no_grad.h>
#include <xgrad/nn/nn.h>
#include <xgrad/nn/pytorch/pytorch.h>
#include <xgrad/ops/ops.h>
#include <xgrad/optim/optim.h>
#include <xgrad/core/version.h>
