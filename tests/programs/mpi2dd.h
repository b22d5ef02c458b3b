/*
 * The structures of the MPI2DD draft (January 2007), written anew from its text: its field order, packed.
 */
#ifndef MPI2DD_H
#define MPI2DD_H

#include <stdint.h>

#define PACKED __attribute__((packed))

enum { START = 1, SPAWN, CONNECT, ACCEPT, JOIN, DIRECTORY_CHANGED, METADIRECTORY_CHANGED, ABORT };
enum { GATE = 0x01, BEING_DEBUGGED = 0x02, REQUEST_DIRECTORY_EVENTS = 0x04 };
/* Bits that the draft does not have are nobody's to change. */
enum { OTHER_FLAGS = 0x100 };
enum { I_AM_METADIR = 0x01, I_AM_DIR = 0x02, I_AM_STARTER = 0x04, PARTIAL_ATTACH_OK = 0x40 };

struct PACKED MPI2DD_INFO {
    uint8_t magic[5], version, variant, debug_state;
    uint32_t debugger_flags, mpi_flags;
    const char *dll_name_32, *dll_name_64, *meta_host_name, *meta_executable_name, *abort_string;
    const void *proctable, *directory_table, *metadirectory_table;
    int32_t proctable_size, directory_size, metadirectory_size, meta_pid, padding[8];
};

struct PACKED MPI2DD_SPAWNDESC {
    const char *parent_comm_world_id;
    int32_t parent_rank, sequence;
};

struct PACKED MPI2DD_PROCDESC {
    const char *host_name, *executable_name;
    const struct MPI2DD_SPAWNDESC *spawn_desc;
    const char *comm_world_id;
    int32_t pid, rank;
};

struct PACKED MPI2DD_DIRECTORYENTRY {
    const char *host_name, *executable_name;
    int32_t pid;
};

/* As a compiler lays it out that is not told to pack it. */
struct unpacked_entry {
    const char *host_name, *executable_name;
    int32_t pid;
};

#endif
