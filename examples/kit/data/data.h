// Everything that brings samples to a training loop.
#pragma once

#include <xgrad/kit/data/collate.h>
#include <xgrad/kit/data/data_loader.h>
#include <xgrad/kit/data/dataset.h>
#include <xgrad/kit/data/prefetcher.h>
