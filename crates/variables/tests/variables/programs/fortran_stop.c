/* Where the program of Fortran stops. */
volatile int sink;
__attribute__((noinline, noipa)) void stop_here(void) { sink = 1; }
__attribute__((noinline, noipa)) void stop_here_(void) { stop_here(); }
__attribute__((noinline, noipa)) void use_(const void *pointer) { sink += *(const char *)pointer; }
