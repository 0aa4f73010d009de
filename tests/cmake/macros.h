// Words that C headers take from their users, as macros that break whatever they replace. (min and max of <windows.h>
// are taken back by libstdc++ itself.)

// <X11/X.h>, <X11/Xlib.h>
#define None 0L
#define Bool int
#define Status int
#define True 1
#define False 0
#define Success 0
#define Always 2
#define Above 0
#define Below 1
#define Opposite 4
#define AnyKey 0L
#define AnyButton 0L
#define CurrentTime 0L
#define NoSymbol 0L
#define KeyPress 2
#define KeyRelease 3
#define ButtonPress 4
#define MotionNotify 6
#define FocusIn 9
#define FocusOut 10
#define Expose 12
#define NoExpose 14
#define ShiftMask 1
#define LockMask 2
#define ControlMask 4
#define AnyModifier (1 << 15)
#define BadRequest 1
#define BadValue 2
#define BadMatch 8
#define BadAccess 10
#define BadAlloc 11
#define InputOnly 2
#define GrayScale 1
#define Unsorted 0
#define YSorted 1
#define Complex 0
#define Convex 2
#define Nonconvex 1
#define CursorShape 0
#define NoValue 0
#define XValue 1
#define YValue 2
#define WidthValue 4
#define AllValues 15
// <curses.h>, <termios.h>
#define TRUE 1
#define FALSE 0
#define OK 0
#define ERR -1
#define addch(ch) waddch(stdscr, ch)
#define attron(a) wattron(stdscr, a)
#define border(a, b, c, d, e, f, g, h) wborder(stdscr, a, b, c, d, e, f, g, h)
#define delch() wdelch(stdscr)
#define getch() wgetch(stdscr)
#define hline(c, n) whline(stdscr, c, n)
#define vline(c, n) wvline(stdscr, c, n)
#define instr(s) winstr(stdscr, s)
#define scroll(w) wscrl(w, 1)
#define standout() wstandout(stdscr)
#define timeout(n) wtimeout(stdscr, n)
#define getyx(w, y, x) (y = 0, x = 0)
#define ECHO 8
#define B0 0
#define B50 1
// <windows.h>
#define IN
#define OUT
#define OPTIONAL
#define CONST const
#define VOID void
#define FAR
#define NEAR
#define far
#define near
#define small char
#define interface struct
#define CALLBACK __stdcall
#define DELETE 0x10000L
#define ERROR 0
#define NO_ERROR 0L
#define ABSOLUTE 1
#define RELATIVE 2
#define TRANSPARENT 1
#define OPAQUE 2
#define IGNORE 0
#define INFINITE 0xFFFFFFFF
#define STRICT 1
#define DIFFERENCE 11
#define GetObject GetObjectA
#define GetMessage GetMessageA
#define LoadImage LoadImageA
#define DrawText DrawTextA
#define FindText FindTextA
#define Yield()
// <complex.h>
#define I _Complex_I
#define complex _Complex
#define imaginary _Imaginary
// <math.h>, <sys/param.h>, <sys/sysmacros.h>, GNU's own
#define DOMAIN 1
#define SING 2
#define OVERFLOW 3
#define UNDERFLOW 4
#define HUGE 1e38f
#define PI 3.14159
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define roundup(x, y) ((x + y - 1) / y * y)
#define howmany(x, y) ((x + y - 1) / y)
#define major(device) gnu_dev_major(device)
#define minor(device) gnu_dev_minor(device)
#undef unix
#undef linux
#define unix 1
#define linux 1
// Qt, glog, GLib
#define emit
#define slots
#define signals public
#define foreach(a, b) for (a : b)
#define forever for (;;)
#define LOG(severity) severity
#define CHECK(condition) (condition)
#define ABS(a) ((a) < 0 ? -(a) : (a))
#define CLAMP(x, low, high) MIN(MAX(x, low), high)
