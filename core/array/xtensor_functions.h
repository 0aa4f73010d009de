// xtensor's functions that core/array/xtensor.h does not include: mathematics, arange and eye, views of parts,
// transposition. xtensor 0.26 moved their headers.
#pragma once

#include "xtensor.h"

#if __has_include(<xtensor/core/xmath.hpp>)
#include <xtensor/core/xmath.hpp>
#include <xtensor/generators/xbuilder.hpp>
#include <xtensor/misc/xmanipulation.hpp>
#include <xtensor/views/xview.hpp>
#else
#include <xtensor/xbuilder.hpp>
#include <xtensor/xmanipulation.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xview.hpp>
#endif
