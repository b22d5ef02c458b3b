/*
 * What a program under the flight recorder says of itself: its open requests, its communicators, its calls.
 *
 * CALLED(call) notes between which addresses the call returns. The file MPIQ_TRUTH, with the rank for "%d", appears by a
 * rename, which is the ready signal.
 */
#ifndef NOTED_H
#define NOTED_H

#include "handle_value.h"
#include "told.h"

#include <mpi.h>

static const void *noted_low __attribute__((unused)), *noted_high __attribute__((unused));

/* Compiled without optimisation: labels stay where they are. */
#define CALLED(call)                                                                                                   \
    do {                                                                                                               \
        __label__ before, after;                                                                                       \
    before:                                                                                                            \
        call;                                                                                                          \
    after:                                                                                                             \
        noted_low = &&before, noted_high = &&after;                                                                    \
    } while (0)

static FILE *noted_file;
static int noted_rows __attribute__((unused));

static inline void noted_begin(int rank)
{
    noted_file = told_open(rank);
    fprintf(noted_file, "{\"pid\": %d", (int)getpid());
}

static inline void noted_list(const char *name)
{
    fprintf(noted_file, ",\n\"%s\": [", name);
    noted_rows = 0;
}

static inline void noted_row(void)
{
    fprintf(noted_file, "%s\n  ", noted_rows++ ? "," : "");
}

static inline void noted_list_end(void)
{
    fprintf(noted_file, "]");
}

static inline void noted_number(const char *name, long long value)
{
    fprintf(noted_file, ",\n\"%s\": %lld", name, value);
}

static inline void noted_end(int rank)
{
    fprintf(noted_file, "}\n");
    told_close(noted_file, rank);
}

#endif
