// All operations.
#pragma once

#include <xgrad/ops/arithmetic.h>
#include <xgrad/ops/attention.h>
#include <xgrad/ops/blas.h>
#include <xgrad/ops/create.h>
#include <xgrad/ops/elementwise.h>
#include <xgrad/ops/index.h>
#include <xgrad/ops/integer.h>
#include <xgrad/ops/linear_attention.h>
#include <xgrad/ops/loss.h>
#include <xgrad/ops/matmul.h>
#include <xgrad/ops/normalize.h>
#include <xgrad/ops/recurrent.h>
#include <xgrad/ops/reduce.h>
#include <xgrad/ops/shape.h>
