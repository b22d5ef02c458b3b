/*
 * What a test program says of its MPI handles.
 *
 * A program makes objects, and notes of each what it KNOWS: from the arguments that it gave to MPI and from MPI's own
 * enquiry functions, never from the library's internals. handles_hang() writes the notes as JSON and pauses; the file appears
 * under its final name (MPIQ_TRUTH with the rank for "%d") by a rename, which is the ready signal.
 *
 *     handle_is("comm", HANDLE(halo), "a duplicate with a name");
 *     note_text("name", "halo");          a field of the handle itself
 *     fact_int("size", 4);                a fact of docs/handles.md
 *     fact_text("topology.kind", "cartesian");   and a member of one
 *
 * What is not noted is not compared.
 */
#ifndef MPIQ_HANDLES_H
#define MPIQ_HANDLES_H

#include "handle_value.h"

#include <mpi.h>
#include <stdint.h>

/* The ABI of MPI 5 has these under other names. */
#ifdef MPI_ABI_VERSION
#define MPI_Comm_c2f MPI_Comm_toint
#define MPI_Errhandler_c2f MPI_Errhandler_toint
#define MPI_File_c2f MPI_File_toint
#define MPI_Group_c2f MPI_Group_toint
#define MPI_Info_c2f MPI_Info_toint
#define MPI_Message_c2f MPI_Message_toint
#define MPI_Op_c2f MPI_Op_toint
#define MPI_Request_c2f MPI_Request_toint
#define MPI_Session_c2f MPI_Session_toint
#define MPI_Type_c2f MPI_Type_toint
#define MPI_Win_c2f MPI_Win_toint
#endif

/* MPICH can be built without files. The name of the release's number is its own: 40002300 is 4.0.2; its library for the ABI of MPI
 * 5, whose mpi.h has no such number, exists since 5.0. */
#if defined(MPI_MODE_RDONLY) || defined(MPI_ABI_VERSION)
#define HAVE_FILES 1
#endif
#ifdef OPEN_MPI
#define MPICH_SINCE(number) 0
#elif defined(MPICH_NUMVERSION)
#define MPICH_SINCE(number) (MPICH_NUMVERSION >= (number))
#else
#define MPICH_SINCE(number) 1
#endif

/* MPI_Init_thread; nothing is noted yet. */
void handles_begin(int *argc, char ***argv, int thread_level);
extern int handles_rank, handles_size;

/* The notes that follow are on this handle (of a status: its address). what: for people who read a failure. It is expected
 * to be live; note_text("state", ...) says otherwise. */
void handle_is(const char *kind, uintptr_t value, const char *what);
/* The same, named by its Fortran integer. */
void handle_is_fortran(const char *kind, int value, const char *what);
/* It must be (or must not be) among the objects of its kind that are listed. Without this either will do. */
void handle_listed(int listed);

/* Fields of the handle itself: name, state, predefined, freed, fortran, summary. */
void note_text(const char *field, const char *value);
void note_int(const char *field, long long value);
void note_bool(const char *field, int value);
void note_null(const char *field);
/* The summary contains these words. */
void note_summary_has(const char *words);

/* Facts, by their names in docs/handles.md; a dot leads into a member, a number behind one into an element
 * ("locks.0.rank"). */
void fact_text(const char *fact, const char *value);
void fact_int(const char *fact, long long value);
void fact_bool(const char *fact, int value);
/* null, with or without a reason. */
void fact_null(const char *fact);
/* null, and a reason is given: it is not known. */
void fact_unknown(const char *fact);
void fact_ints(const char *fact, const int *values, int count);
/* An address, written as "0x…". */
void fact_address(const char *fact, const void *value);
/* A reference to that handle. */
void fact_handle(const char *fact, uintptr_t value);
/* A list of references with that many elements, that has (among others) this one. */
void fact_refers_to(const char *fact, uintptr_t value);
/* A text that has these words in it. */
void fact_contains(const char *fact, const char *words);
/* The list has that many elements. */
void fact_count(const char *fact, int count);
/* A list that has an element with (at least) the members of this JSON object. */
void fact_has(const char *fact, const char *json);
/* Anything else, as JSON text. */
void fact_json(const char *fact, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes the notes and pauses for ever. */
void handles_hang(void) __attribute__((noreturn));
/* The same in two steps: the notes, then whatever the program does to hang (without spinning). */
void handles_write(void);

#endif
