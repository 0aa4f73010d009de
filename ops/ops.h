// All operations.
#pragma once

#include "arithmetic.h"
#include "attention.h"
#include "blas.h"
#include "create.h"
#include "elementwise.h"
#include "index.h"
#include "integer.h"
#include "linear_attention.h"
#include "loss.h"
#include "matmul.h"
#include "normalize.h"
#include "recurrent.h"
#include "reduce.h"
#include "shape.h"
