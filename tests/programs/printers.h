/* For printers.c and printers_mpich.c: how they say what a variable must be shown as. */
#include "common/told.h"

static void say(const char *expression, char how, const char *format, ...)
{
    va_list values;
    printf("%s %c ", expression, how);
    va_start(values, format);
    vprintf(format, values);
    va_end(values);
    printf("\n");
}
