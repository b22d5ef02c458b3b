/* truth_modes.c as a program of its own: a test of core files hides its file from gdb for a while. */
#include "truth_modes.c"
