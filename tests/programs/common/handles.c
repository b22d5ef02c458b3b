/* See handles.h: noting what a program knows of its handles. */
#define _GNU_SOURCE
#include "handles.h"
#include "told.h"

int handles_rank, handles_size;

/* JSON as it grows. */
static FILE *notes;
static char *text;
static size_t text_bytes;
static int handle_count, note_count;

static void fail(const char *why)
{
    fprintf(stderr, "handles, rank %d: %s\n", handles_rank, why);
    fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 9);
    _exit(9);
}

static void write_string(const char *value)
{
    fputc('"', notes);
    for (const unsigned char *at = (const unsigned char *)value; *at; at++) {
        if (*at == '"' || *at == '\\')
            fprintf(notes, "\\%c", *at);
        else if (*at < 0x20)
            fprintf(notes, "\\u%04x", *at);
        else
            fputc(*at, notes);
    }
    fputc('"', notes);
}

void handles_begin(int *argc, char ***argv, int thread_level)
{
    int provided;
    alarm(LIFE_SECONDS);
    MPI_Init_thread(argc, argv, thread_level, &provided);
    if (provided < thread_level)
        fail("the thread level is not supported");
    MPI_Comm_rank(MPI_COMM_WORLD, &handles_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &handles_size);
    notes = open_memstream(&text, &text_bytes);
    if (notes == NULL)
        fail("no memory");
    fprintf(notes, "{\"rank\": %d, \"handles\": [", handles_rank);
}

static void begin_handle(const char *kind, const char *value, const char *what)
{
    if (handle_count++)
        fprintf(notes, "]},\n");
    fprintf(notes, "{\"kind\": \"%s\", \"value\": \"%s\", \"what\": ", kind, value);
    write_string(what);
    fprintf(notes, ", \"notes\": [");
    note_count = 0;
}

void handle_is(const char *kind, uintptr_t value, const char *what)
{
    char hex[32];
    snprintf(hex, sizeof hex, "0x%llx", (unsigned long long)value);
    begin_handle(kind, hex, what);
}

void handle_is_fortran(const char *kind, int value, const char *what)
{
    char decimal[32];
    snprintf(decimal, sizeof decimal, "%d", value);
    begin_handle(kind, decimal, what);
}

/* [how to compare, place, value] */
static void begin_note(const char *how, const char *place, const char *name)
{
    if (handle_count == 0)
        fail("a note on no handle");
    fprintf(notes, "%s[\"%s\", \"%s%s\", ", note_count++ ? ", " : "", how, place, name);
}

static void end_note(void)
{
    fputc(']', notes);
}

static void note_number(const char *place, const char *name, long long value)
{
    begin_note("equal", place, name);
    fprintf(notes, "%lld", value);
    end_note();
}

static void note_word(const char *how, const char *place, const char *name, const char *word)
{
    begin_note(how, place, name);
    fputs(word, notes);
    end_note();
}

static void note_string(const char *how, const char *place, const char *name, const char *value)
{
    begin_note(how, place, name);
    write_string(value);
    end_note();
}

static void note_hex(const char *how, const char *name, uintptr_t value)
{
    begin_note(how, "facts.", name);
    fprintf(notes, "\"0x%llx\"", (unsigned long long)value);
    end_note();
}

void handle_listed(int listed)
{
    note_word("listed", "", "", listed ? "true" : "false");
}

void note_text(const char *field, const char *value)
{
    note_string("equal", "", field, value);
}

void note_int(const char *field, long long value)
{
    note_number("", field, value);
}

void note_bool(const char *field, int value)
{
    note_word("equal", "", field, value ? "true" : "false");
}

void note_null(const char *field)
{
    note_word("equal", "", field, "null");
}

void note_summary_has(const char *words)
{
    note_string("contains", "", "summary", words);
}

void fact_contains(const char *fact, const char *words)
{
    note_string("contains", "facts.", fact, words);
}

void fact_text(const char *fact, const char *value)
{
    note_string("equal", "facts.", fact, value);
}

void fact_int(const char *fact, long long value)
{
    note_number("facts.", fact, value);
}

void fact_bool(const char *fact, int value)
{
    note_word("equal", "facts.", fact, value ? "true" : "false");
}

void fact_null(const char *fact)
{
    note_word("equal", "facts.", fact, "null");
}

void fact_unknown(const char *fact)
{
    note_word("unknown", "facts.", fact, "null");
}

void fact_ints(const char *fact, const int *values, int count)
{
    begin_note("equal", "facts.", fact);
    fputc('[', notes);
    for (int at = 0; at < count; at++)
        fprintf(notes, "%s%d", at ? ", " : "", values[at]);
    fputc(']', notes);
    end_note();
}

void fact_address(const char *fact, const void *value)
{
    note_hex("equal", fact, (uintptr_t)value);
}

void fact_handle(const char *fact, uintptr_t value)
{
    note_hex("refers", fact, value);
}

void fact_refers_to(const char *fact, uintptr_t value)
{
    note_hex("lists", fact, value);
}

void fact_count(const char *fact, int count)
{
    begin_note("count", "facts.", fact);
    fprintf(notes, "%d", count);
    end_note();
}

void fact_has(const char *fact, const char *json)
{
    note_word("has", "facts.", fact, json);
}

void fact_json(const char *fact, const char *format, ...)
{
    va_list arguments;
    begin_note("equal", "facts.", fact);
    va_start(arguments, format);
    vfprintf(notes, format, arguments);
    va_end(arguments);
    end_note();
}

void handles_write(void)
{
    fprintf(notes, "%s]}\n", handle_count ? "]}" : "");
    if (fclose(notes) != 0)
        fail("no memory");
    if (getenv("MPIQ_TRUTH") == NULL) {
        /* By hand: the notes go to the terminal. */
        fputs(text, stdout);
        fflush(stdout);
        return;
    }
    FILE *file = told_open(handles_rank);
    if (fwrite(text, 1, text_bytes, file) != text_bytes)
        fail("the notes cannot be written");
    told_close(file, handles_rank);
}

void handles_hang(void)
{
    handles_write();
    for (;;)
        pause();
}
