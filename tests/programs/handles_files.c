/*
 * Open files: modes, views, hints, requests. Two ranks.
 *
 * The arguments are a directory and who does the input and output: ompio, or romio, which keeps its views to itself in Open MPI,
 * and is all that MPICH has. An MPICH without files says so.
 */
#define _GNU_SOURCE
#include "common/handles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_FILES
static const char *directory, *component;
static int is_ompio;

/* Whether who does the input and output shows its views. */
static int has_views(void)
{
#ifdef OPEN_MPI
    return is_ompio;
#else
    return 1;
#endif
}

static char *path_of(const char *name)
{
    char *path;
    if (asprintf(&path, "%s/%s", directory, name) < 0)
        abort();
    return path;
}

static MPI_File open_file(MPI_Comm comm, const char *name, int amode, MPI_Info info)
{
    MPI_File file;
    char *path = path_of(name);
    if (MPI_File_open(comm, path, amode, info, &file) != MPI_SUCCESS) {
        fprintf(stderr, "%s cannot be opened\n", path);
        abort();
    }
    free(path);
    return file;
}

static void file_is(MPI_File file, MPI_Comm comm, const char *name, const char *modes, const char *what)
{
    int amode;
    MPI_Errhandler handler;
    char *path = path_of(name);
    MPI_File_get_amode(file, &amode);
    MPI_File_get_errhandler(file, &handler);
    handle_is("file", HANDLE(file), what);
    note_text("name", path);
    note_bool("predefined", 0);
    note_bool("freed", 0);
    note_int("fortran", MPI_File_c2f(file));
    /* A summary shows the end of a long name. */
    note_summary_has(strlen(name) > 40 ? name + strlen(name) - 30 : name);
    fact_text("filename", path);
    fact_int("amode", amode);
    fact_json("amode_names", "%s", modes);
    fact_handle("errhandler", HANDLE(handler));
    fact_text("component", component);
#ifdef OPEN_MPI
    fact_handle("communicator", HANDLE(comm));
    if (!is_ompio) {
        fact_unknown("view");
        fact_unknown("requests");
    }
    handle_listed(1);
#else /* which keeps a duplicate, and no list of files */
    char place[64];
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    snprintf(place, sizeof place, "rank %d of %d", rank, size);
    fact_unknown("communicator");
    fact_text("duplicate.kind", "comm");
    fact_contains("duplicate.summary", place);
    fact_unknown("requests");
#endif
    free(path);
}

static void view_is(MPI_Offset displacement, MPI_Datatype etype)
{
    if (!has_views())
        return;
    fact_int("view.displacement", displacement);
    fact_handle("view.etype", HANDLE(etype));
    fact_text("view.filetype.kind", "datatype");
    fact_text("view.representation", "native");
}

static void modes(void)
{
    MPI_File file = open_file(MPI_COMM_WORLD, "plain", MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL);
    file_is(file, MPI_COMM_WORLD, "plain", "[\"MPI_MODE_RDWR\", \"MPI_MODE_CREATE\"]", "a file as it is opened");
    note_summary_has("plain\", MPI_MODE_RDWR|MPI_MODE_CREATE");
    view_is(0, MPI_BYTE);
    if (has_views())
        fact_handle("view.filetype", HANDLE(MPI_BYTE));
    if (is_ompio)
        fact_count("requests", 0);
    file = open_file(MPI_COMM_WORLD, "plain", MPI_MODE_RDONLY, MPI_INFO_NULL);
    file_is(file, MPI_COMM_WORLD, "plain", "[\"MPI_MODE_RDONLY\"]", "the same file for reading");
    file = open_file(MPI_COMM_SELF, handles_rank ? "own1" : "own0",
                     MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_DELETE_ON_CLOSE |
                         MPI_MODE_UNIQUE_OPEN | MPI_MODE_APPEND,
                     MPI_INFO_NULL);
    file_is(file, MPI_COMM_SELF, handles_rank ? "own1" : "own0",
            "[\"MPI_MODE_WRONLY\", \"MPI_MODE_CREATE\", \"MPI_MODE_EXCL\", \"MPI_MODE_DELETE_ON_CLOSE\", "
            "\"MPI_MODE_UNIQUE_OPEN\", \"MPI_MODE_APPEND\"]",
            "a file of this process alone");
    file = open_file(MPI_COMM_WORLD, "sequential", MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_SEQUENTIAL, MPI_INFO_NULL);
    file_is(file, MPI_COMM_WORLD, "sequential", "[\"MPI_MODE_WRONLY\", \"MPI_MODE_CREATE\", \"MPI_MODE_SEQUENTIAL\"]",
            "a sequential file");
    const char *odd = "long name with \"quotes\" and caf\xc3\xa9 and more than forty characters";
    file = open_file(MPI_COMM_WORLD, odd, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL);
    file_is(file, MPI_COMM_WORLD, odd, "[\"MPI_MODE_RDWR\", \"MPI_MODE_CREATE\"]", "a file with a long name");
}

static void views(MPI_Comm halo)
{
    MPI_Info info;
    MPI_Datatype every_other;
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_buffer_size", "65536");
    MPI_Type_vector(4, 1, 2, MPI_INT, &every_other);
    MPI_Type_commit(&every_other);
    MPI_File file = open_file(halo, "viewed", MPI_MODE_RDWR | MPI_MODE_CREATE, info);
    MPI_File_set_view(file, 16, MPI_INT, every_other, "native", MPI_INFO_NULL);
    MPI_File_set_errhandler(file, MPI_ERRORS_ARE_FATAL);
    file_is(file, halo, "viewed", "[\"MPI_MODE_RDWR\", \"MPI_MODE_CREATE\"]", "a file with a view, a hint and an error handler");
    fact_handle("errhandler", HANDLE(MPI_ERRORS_ARE_FATAL));
    view_is(16, MPI_INT);
    /* MPICH has hints of its own beside it. */
    fact_has("info", "{\"key\": \"cb_buffer_size\", \"value\": \"65536\"}");
}

static void requests(void)
{
    static char bytes[2][4096];
    static MPI_Request written, read;
    MPI_File file = open_file(MPI_COMM_WORLD, "written", MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL);
    MPI_File quiet = open_file(MPI_COMM_WORLD, "quiet", MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL);
    MPI_File_iwrite_at(file, 4096 * handles_rank, bytes[0], 4096, MPI_BYTE, &written);
    MPI_File_iread_at(file, 4096 * handles_rank, bytes[1], 4096, MPI_BYTE, &read);
    file_is(file, MPI_COMM_WORLD, "written", "[\"MPI_MODE_RDWR\", \"MPI_MODE_CREATE\"]", "a file with two requests");
    if (is_ompio) {
        fact_count("requests", 2);
        fact_refers_to("requests", HANDLE(written));
        fact_refers_to("requests", HANDLE(read));
    }
    file_is(quiet, MPI_COMM_WORLD, "quiet", "[\"MPI_MODE_RDWR\", \"MPI_MODE_CREATE\"]", "a file with none beside it");
    if (is_ompio)
        fact_count("requests", 0);
}

/* With the parameter mpi_no_free_handles Open MPI keeps what was closed; MPICH never does. */
static void closed(void)
{
    MPI_File file = open_file(MPI_COMM_WORLD, "closed", MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL), copy = file;
    MPI_File_close(&file);
    handle_is("file", HANDLE(copy), "a file that was closed");
#ifdef OPEN_MPI
    note_text("state", "freed");
    note_bool("freed", 1);
    note_summary_has("closed\" has been closed");
#else
    note_text("state", "invalid");
    note_summary_has("no open file of ROMIO");
#endif
}

int main(int argc, char **argv)
{
    MPI_Comm halo;
    handles_begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (argc != 3) {
        fprintf(stderr, "usage: handles_files DIRECTORY ompio|romio\n");
        return 2;
    }
    directory = argv[1];
    is_ompio = strcmp(argv[2], "ompio") == 0;
#ifndef OPEN_MPI
    component = "romio";
#else
    component = is_ompio ? "ompio" : OMPI_MAJOR_VERSION < 5 ? "romio321" : "romio341";
#endif
    MPI_Comm_dup(MPI_COMM_WORLD, &halo);
    MPI_Comm_set_name(halo, "halo");
    modes();
    views(halo);
    requests();
#ifdef OPEN_MPI
    if (getenv("OMPI_MCA_mpi_no_free_handles"))
        closed();
#else
    closed();
#endif
    handles_hang();
}
#else
int main(int argc, char **argv)
{
    static char memory[4096];
    handles_begin(&argc, &argv, MPI_THREAD_SINGLE);
    handle_is("file", HANDLE(memory), "an address, where there are no files");
    note_text("state", "invalid");
    note_summary_has("this MPI was built without files");
    handle_is("comm", HANDLE(MPI_COMM_WORLD), "a communicator, where there are no files");
    fact_count("files", 0);
    handles_hang();
}
#endif
