// Everything of optim.
#pragma once

#include "adadelta.h"
#include "adagrad.h"
#include "adam.h"
#include "audit.h"
#include "clip.h"
#include "lbfgs.h"
#include "lion.h"
#include "nadam.h"
#include "optimizer.h"
#include "overfit.h"
#include "radam.h"
#include "reduce_on_plateau.h"
#include "rmsprop.h"
#include "schedule.h"
#include "sgd.h"
