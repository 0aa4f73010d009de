// Everything of optim.
#pragma once

#include "diagnostics/audit.h"
#include "optimizers/adadelta.h"
#include "optimizers/adagrad.h"
#include "optimizers/adam.h"
#include "optimizers/clip.h"
#include "optimizers/lbfgs.h"
#include "optimizers/lion.h"
#include "optimizers/moving_average.h"
#include "optimizers/muon.h"
#include "optimizers/optimizer.h"
#include "optimizers/parameters.h"
#include "optimizers/rmsprop.h"
#include "optimizers/sgd.h"
#include "schedules/schedule.h"
