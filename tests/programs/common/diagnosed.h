/* For the programs whose state is diagnosed: the one line in them that is there for the tests. */
#ifndef DIAGNOSED_H
#define DIAGNOSED_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Says to the tests that this rank is about to do what the program is about. Nothing is left for long where they fail. */
static void diagnosed_ready(void)
{
    alarm(1800);
    puts("ready");
    fflush(stdout);
}

#endif
