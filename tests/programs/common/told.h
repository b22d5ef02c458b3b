/*
 * How a test program tells the tests that it is where they want it, and how it stays there. Needs no MPI.
 *
 * It says a line, "ready", or writes a file, MPIQ_TRUTH with the rank for "%d", which appears whole, by a rename.
 */
#ifndef TOLD_H
#define TOLD_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A job that nobody ends must not stay for ever. */
enum { LIFE_SECONDS = 1800, TOLD_PATH = 4200 };

static inline void told_ready(void)
{
    alarm(LIFE_SECONDS);
    puts("ready");
    fflush(stdout);
}

/* Not declared as what never returns: behind a call of such a function debuggers take the frame for one of the next. */
static inline void told_hang(void)
{
    for (;;)
        pause();
}

/* Where a rank's file is, with an ending; of a world after the first "W.R" stands for "%d". */
static inline void told_path(char path[TOLD_PATH], int world, int rank, const char *end)
{
    const char *pattern = getenv("MPIQ_TRUTH"), *place = pattern ? strstr(pattern, "%d") : NULL;
    char first[16] = "";
    if (place == NULL) {
        fputs("MPIQ_TRUTH is to name the file to write, with %d for the rank\n", stderr);
        _exit(2);
    }
    if (world)
        snprintf(first, sizeof first, "%d.", world);
    snprintf(path, TOLD_PATH, "%.*s%s%d%s%s", (int)(place - pattern), pattern, first, rank, place + 2, end);
}

static inline FILE *told_open(int rank)
{
    char fresh[TOLD_PATH];
    told_path(fresh, 0, rank, ".new");
    FILE *file = fopen(fresh, "w");
    if (file == NULL)
        _exit(3);
    alarm(LIFE_SECONDS);
    return file;
}

static inline void told_close(FILE *file, int rank)
{
    char fresh[TOLD_PATH], path[TOLD_PATH];
    told_path(fresh, 0, rank, ".new");
    told_path(path, 0, rank, "");
    if (fclose(file) != 0 || rename(fresh, path) != 0)
        _exit(3);
}

/* The rank, its process id, and what else there is to tell: members of JSON behind a comma. */
__attribute__((format(printf, 2, 3))) static inline void told_with(int rank, const char *more, ...)
{
    FILE *file = told_open(rank);
    va_list values;
    fprintf(file, "{\"rank\":%d,\"pid\":%d", rank, (int)getpid());
    va_start(values, more);
    vfprintf(file, more, values);
    va_end(values);
    fputs("}\n", file);
    told_close(file, rank);
}

static inline void told(int rank)
{
    told_with(rank, "%s", "");
}

#endif
