// Linked into every program that uses the library, since each object file compiled with its headers refers to the name
// of its number type (base/config.h): defines that name.
//
// One object file defines two names: that of this library's number type, and `xgrad_real`, which the other library has
// as well. So the wrong library leaves the first undefined, and both libraries in one program define the second twice.
#include "base/config.h"

extern "C" {
extern const char xgrad_real;
const char XGRAD_REAL_NAME = 1;
const char xgrad_real = 1;
}
