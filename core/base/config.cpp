// The number type as the linker sees it. One object defines both names: that of this library's type, to which every
// object compiled with the headers refers (config.h), and `xgrad_real`, which the other library has as well. So the
// wrong library leaves the first undefined, and both libraries in one program define the second twice.
#include "config.h"

extern "C" {
extern const char xgrad_real;
const char XGRAD_REAL_NAME = 1;
const char xgrad_real = 1;
}
