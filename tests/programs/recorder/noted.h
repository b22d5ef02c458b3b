/*
 * What a program under the flight recorder says of itself: its open requests, its communicators, its calls.
 *
 * CALLED(call) notes between which addresses the call returns. The file MPIQ_TRUTH, with the rank for "%d", appears by a
 * rename, which is the ready signal.
 */
#ifndef NOTED_H
#define NOTED_H

#include "common/handle_value.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static inline void noted_path(char *path, size_t size, int rank, const char *end)
{
    char pattern[512];
    snprintf(pattern, sizeof(pattern), "%s%s", getenv("MPIQ_TRUTH"), end);
    char *hole = strstr(pattern, "%d");
    *hole = '\0';
    snprintf(path, size, "%s%d%s", pattern, rank, hole + 2);
}

static inline void noted_begin(int rank)
{
    char path[600];
    noted_path(path, sizeof(path), rank, ".new");
    noted_file = fopen(path, "w");
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
    char fresh[600], path[600];
    fprintf(noted_file, "}\n");
    fclose(noted_file);
    noted_path(fresh, sizeof(fresh), rank, ".new");
    noted_path(path, sizeof(path), rank, "");
    alarm(1800);
    rename(fresh, path);
}

#endif
