// Everything that brings samples to a training loop.
#pragma once

#include <xgrad/kit/collate.h>
#include <xgrad/kit/data_loader.h>
#include <xgrad/kit/dataset.h>
#include <xgrad/kit/prefetcher.h>
