// Everything of optim.
#pragma once

#include "adam.h"
#include "audit.h"
#include "clip.h"
#include "optimizer.h"
#include "overfit.h"
#include "schedule.h"
#include "sgd.h"
