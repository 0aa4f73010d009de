// Everything of optim.
#pragma once

#include <xgrad/optim/adam.h>
#include <xgrad/optim/audit.h>
#include <xgrad/optim/clip.h>
#include <xgrad/optim/optimizer.h>
#include <xgrad/optim/schedule.h>
#include <xgrad/optim/sgd.h>
