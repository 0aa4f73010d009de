// The version of the library, for the preprocessor, and for CMake, which reads it here.
#pragma once

#define XGRAD_VERSION_MAJOR 0
#define XGRAD_VERSION_MINOR 1
#define XGRAD_VERSION_PATCH 0
#define XGRAD_VERSION "0.1.0"
