// Everything of nn.
#pragma once

#include <xgrad/nn/init.h>
#include <xgrad/nn/module.h>
#include <xgrad/nn/stack.h>
