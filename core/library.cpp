// Linked into every program that uses the library, since each object file compiled with its headers refers to the name
// of its number type (base/config.h): defines that name.
//
// One object file defines two names: that of this library's number type, and `xgrad_real`, which the other library has
// as well. So the wrong library leaves the first undefined, and both libraries in one program define the second twice.
#include "base/config.h"

#ifdef XGRAD_SHARED
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#endif

extern "C" {
extern const char xgrad_real;
const char XGRAD_REAL_NAME = 1;
const char xgrad_real = 1;
}

// Two shared libraries are linked without a word, and then each finds functions of the other. Before any constructor:
#ifdef XGRAD_SHARED
[[gnu::constructor(101)]] static void refuse_the_other() {
#ifdef XGRAD_F64
  const char* const other = "xgrad_real_is_float";
#else
  const char* const other = "xgrad_real_is_double";
#endif
  if (!dlsym(RTLD_DEFAULT, other)) return;
  std::fputs(
      "xgrad: the libraries in float and in double (xgrad, xgrad_f64) are loaded into one program, which can use one\n",
      stderr);
  std::abort();
}
#endif
