/*
 * Datatypes of every combiner, and some made at random. Where the data lies is seen from what MPI_Pack takes from a
 * buffer; all other facts are those that the program gave or that MPI's functions return. Two ranks, which make different
 * random ones.
 */
#include "common/handles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 60000, RANDOM_TYPES = 40 };
/* Of a block. MPICH's MPI_Pack divides by zero for some datatypes with parts of nothing. */
#ifdef OPEN_MPI
enum { FEWEST = 0 };
#else
enum { FEWEST = 1 };
#endif

/* An MPICH without Fortran does not have these. */
#pragma weak MPI_Type_create_f90_real
#pragma weak MPI_Type_create_f90_integer
#pragma weak MPI_Type_create_f90_complex

#define ELEMENTS(array) ((int)(sizeof(array) / sizeof *(array)))

static const struct {
    int number;
    const char *name, *call;
} combiners[] = {
    {MPI_COMBINER_NAMED, "MPI_COMBINER_NAMED", NULL},
    {MPI_COMBINER_DUP, "MPI_COMBINER_DUP", "MPI_Type_dup"},
    {MPI_COMBINER_CONTIGUOUS, "MPI_COMBINER_CONTIGUOUS", "MPI_Type_contiguous"},
    {MPI_COMBINER_VECTOR, "MPI_COMBINER_VECTOR", "MPI_Type_vector"},
    {MPI_COMBINER_HVECTOR, "MPI_COMBINER_HVECTOR", "MPI_Type_create_hvector"},
    {MPI_COMBINER_INDEXED, "MPI_COMBINER_INDEXED", "MPI_Type_indexed"},
    {MPI_COMBINER_HINDEXED, "MPI_COMBINER_HINDEXED", "MPI_Type_create_hindexed"},
    {MPI_COMBINER_INDEXED_BLOCK, "MPI_COMBINER_INDEXED_BLOCK", "MPI_Type_create_indexed_block"},
    {MPI_COMBINER_HINDEXED_BLOCK, "MPI_COMBINER_HINDEXED_BLOCK", "MPI_Type_create_hindexed_block"},
    {MPI_COMBINER_STRUCT, "MPI_COMBINER_STRUCT", "MPI_Type_create_struct"},
    {MPI_COMBINER_SUBARRAY, "MPI_COMBINER_SUBARRAY", "MPI_Type_create_subarray"},
    {MPI_COMBINER_DARRAY, "MPI_COMBINER_DARRAY", "MPI_Type_create_darray"},
    {MPI_COMBINER_RESIZED, "MPI_COMBINER_RESIZED", "MPI_Type_create_resized"},
    {MPI_COMBINER_F90_REAL, "MPI_COMBINER_F90_REAL", "MPI_Type_create_f90_real"},
    {MPI_COMBINER_F90_COMPLEX, "MPI_COMBINER_F90_COMPLEX", "MPI_Type_create_f90_complex"},
    {MPI_COMBINER_F90_INTEGER, "MPI_COMBINER_F90_INTEGER", "MPI_Type_create_f90_integer"},
};

/* What MPI_Pack takes, in order: the offset of each byte. */
static int packed(MPI_Datatype type, int *offsets)
{
    MPI_Aint lb, extent;
    MPI_Datatype copy;
    int size, low = 0;
    MPI_Type_size(type, &size);
    MPI_Type_get_true_extent(type, &lb, &extent);
    if (size == 0)
        return 0;
    MPI_Type_dup(type, &copy);
    MPI_Type_commit(&copy);
    unsigned char *buffer = malloc(extent), *taken = malloc(size);
    memset(offsets, 0, size * sizeof *offsets);
    for (int shift = 0; shift < 24; shift += 8) {
        for (MPI_Aint at = 0; at < extent; at++)
            buffer[at] = (at >> shift) & 0xff;
        low = 0;
        MPI_Pack(buffer - lb, 1, copy, taken, size, &low, MPI_COMM_SELF);
        for (int at = 0; at < size; at++)
            offsets[at] |= taken[at] << shift;
    }
    for (int at = 0; at < size; at++)
        offsets[at] += lb;
    free(buffer);
    free(taken);
    MPI_Type_free(&copy);
    return size;
}

/* Where the data of a part of a distributed array of MPI_SHORT is by the definition (MPI-4.1, 5.1.4), in order: MPICH's MPI_Pack is wrong for
 * some where it was built with its older datatype engine. Three dimensions: in blocks, in cycles of two, whole. */
static int distributed(int rank, int fortran, const int *whole, const int *grid, int *offsets)
{
    int at[3], stride[3], size = 0, block = (whole[0] + grid[0] - 1) / grid[0];
    int row = rank / grid[1], column = rank % grid[1];
    for (int d = 0; d < 3; d++) {
        stride[d] = 2;
        for (int other = fortran ? 0 : d + 1; other < (fortran ? d : 3); other++)
            stride[d] *= whole[other];
    }
    /* The first index moves slowest in C's order, fastest in Fortran's. */
    int slow = fortran ? 2 : 0, fast = 2 - slow;
    for (at[slow] = 0; at[slow] < whole[slow]; at[slow]++)
        for (at[1] = 0; at[1] < whole[1]; at[1]++)
            for (at[fast] = 0; at[fast] < whole[fast]; at[fast]++)
                if (at[0] / block == row && at[1] / 2 % grid[1] == column)
                    for (int byte = 0; byte < 2; byte++)
                        offsets[size++] = at[0] * stride[0] + at[1] * stride[1] + at[2] * stride[2] + byte;
    return size;
}

/* Notes the gaps, and for datatypes that consist of one predefined one the type map. */
static void data_is_at(MPI_Datatype type, const char *leaf, int leaf_size, const int *offsets, int size)
{
    static char covered[2 * LARGEST];
    char *text;
    size_t bytes;
    MPI_Aint lb, extent;
    if (leaf) {
        FILE *map = open_memstream(&text, &bytes);
        fprintf(map, "[");
        for (int at = 0, length; at < size; at += length) {
            for (length = 1; at + length < size && offsets[at + length] == offsets[at] + length; length++)
                ;
            fprintf(map, "%s{\"datatype\": \"%s\", \"offset\": %d, \"count\": %d}", at ? ", " : "", leaf, offsets[at],
                    length / leaf_size);
        }
        fprintf(map, "]");
        fclose(map);
        fact_json("type_map", "%s", text);
        free(text);
    }
    MPI_Type_get_extent(type, &lb, &extent);
    memset(covered, 0, sizeof covered);
    for (int at = 0; at < size; at++)
        if (offsets[at] >= lb && offsets[at] < lb + extent)
            covered[offsets[at] - lb] = 1;
    FILE *holes = open_memstream(&text, &bytes);
    fprintf(holes, "[");
    const char *comma = "";
    for (int at = 0, length; at < extent; at += length) {
        for (length = 1; at + length < extent && covered[at + length] == covered[at]; length++)
            ;
        if (!covered[at]) {
            fprintf(holes, "%s{\"offset\": %ld, \"length\": %d}", comma, (long)(lb + at), length);
            comma = ", ";
        }
    }
    fprintf(holes, "]");
    fclose(holes);
    fact_json("holes", "%s", text);
    free(text);
}

/* As above, as MPI_Pack says. */
static void where_the_data_is(MPI_Datatype type, const char *leaf, int leaf_size)
{
    static int offsets[LARGEST];
    data_is_at(type, leaf, leaf_size, offsets, packed(type, offsets));
}

/* Notes what MPI's functions say of a datatype, but not where its data is. committed: -1 if the program does not know. */
static void note_made(const char *what, MPI_Datatype type, int committed)
{
    static int integers[4000];
    static MPI_Aint addresses[4000];
    static MPI_Datatype types[4000];
    char name[MPI_MAX_OBJECT_NAME], fact[64], *text;
    size_t bytes;
    int length, counts[3], combiner;
    MPI_Count size;
    MPI_Aint lb, extent;
    handle_is("datatype", HANDLE(type), what);
    MPI_Type_get_name(type, name, &length);
    if (length)
        note_text("name", name);
    else
        note_null("name");
    if (committed >= 0)
        fact_bool("committed", committed);
    fact_count("requests", 0);
    MPI_Type_size_x(type, &size);
    fact_int("size", size);
    MPI_Type_get_extent(type, &lb, &extent);
    fact_int("lb", lb);
    fact_int("extent", extent);
    MPI_Type_get_true_extent(type, &lb, &extent);
    if (size > 0) {
        fact_int("true_lb", lb);
        fact_int("true_extent", extent);
    } else {
        fact_unknown("true_lb");
        fact_unknown("true_extent");
    }
    MPI_Type_get_envelope(type, &counts[0], &counts[1], &counts[2], &combiner);
    for (int at = 0; at < ELEMENTS(combiners); at++)
        if (combiners[at].number == combiner) {
            fact_text("combiner", combiners[at].name);
            if (combiners[at].call)
                fact_text("call", combiners[at].call);
            else
                fact_null("call");
        }
    if (combiner != MPI_COMBINER_NAMED)
        MPI_Type_get_contents(type, counts[0], counts[1], counts[2], integers, addresses, types);
    fact_ints("integers", integers, counts[0]);
    FILE *list = open_memstream(&text, &bytes);
    fprintf(list, "[");
    for (int at = 0; at < counts[1]; at++)
        fprintf(list, "%s%ld", at ? ", " : "", (long)addresses[at]);
    fprintf(list, "]");
    fclose(list);
    fact_json("addresses", "%s", text);
    free(text);
    fact_count("datatypes", counts[2]);
    for (int at = 0; at < counts[2]; at++) {
        int ignored;
        MPI_Type_get_envelope(types[at], &ignored, &ignored, &ignored, &combiner);
        /* Of the others MPI gives copies. */
        if (combiner == MPI_COMBINER_NAMED) {
            snprintf(fact, sizeof fact, "datatypes.%d", at);
            fact_handle(fact, HANDLE(types[at]));
        } else {
            MPI_Type_free(&types[at]);
        }
    }
}

/* The same with where the data is. */
static void note(const char *what, MPI_Datatype type, const char *leaf, int leaf_size, int committed)
{
    MPI_Count size;
    note_made(what, type, committed);
    MPI_Type_size_x(type, &size);
    if (size <= LARGEST)
        where_the_data_is(type, leaf, leaf_size);
}

static MPI_Datatype commit(MPI_Datatype type)
{
    MPI_Type_commit(&type);
    return type;
}

static void simple(void)
{
    MPI_Datatype type, part;
    MPI_Type_contiguous(5, MPI_INT, &type);
    note("contiguous, not committed", type, "MPI_INT", 4, 0);
    fact_int("arguments.count", 5);
    fact_handle("arguments.oldtype", HANDLE(MPI_INT));
    note_text("summary", "MPI_Type_contiguous(5, MPI_INT), 20 bytes, not committed");
    fact_json("sketch", "[\"int element[5];\"]");
    note_bool("predefined", 0);

    MPI_Type_vector(3, 2, 5, MPI_INT, &type);
    MPI_Type_set_name(type, "my vector");
    note("a vector with a name", commit(type), "MPI_INT", 4, 1);
    note_text("summary", "\"my vector\": MPI_Type_vector(3, 2, 5, MPI_INT), 24 bytes in 48");
    fact_int("arguments.count", 3);
    fact_int("arguments.blocklength", 2);
    fact_int("arguments.stride", 5);
    fact_handle("arguments.oldtype", HANDLE(MPI_INT));
    fact_json("sketch", "[\"struct {\", \"    int block[2];\", \"    /* gap of 12 bytes */\","
                        " \"} element[3];  /* no gap after the last */\"]");
    note_int("fortran", MPI_Type_c2f(type));
    handle_listed(1);
    part = type;
    MPI_Type_vector(3, 1, -4, MPI_DOUBLE, &type);
    note("a vector that goes backwards", commit(type), "MPI_DOUBLE", 8, 1);
    MPI_Type_create_hvector(4, 2, -40, MPI_SHORT, &type);
    note("a vector by bytes that goes backwards", commit(type), "MPI_SHORT", 2, 1);
    fact_int("arguments.stride", -40);
    MPI_Type_contiguous(3, part, &type);
    note("vectors one after the other", commit(type), "MPI_INT", 4, 1);
    note_text("summary", "MPI_Type_contiguous(3, \"my vector\"), 72 bytes in 144");
    MPI_Type_contiguous(0, MPI_INT, &type);
    note("nothing", commit(type), "MPI_INT", 4, 1);
    MPI_Type_vector(0, 4, 7, part, &type);
    note("a vector of nothing", commit(type), "MPI_INT", 4, 1);
    MPI_Type_vector(4, 0, 7, part, &type);
    note("a vector of empty blocks", type, "MPI_INT", 4, 0);
    MPI_Type_dup(part, &type);
    note("a copy", type, "MPI_INT", 4, 1);
    fact_handle("arguments.oldtype", HANDLE(part));
    MPI_Type_contiguous(1000, MPI_DOUBLE, &part);
    MPI_Type_contiguous(1000000, part, &type);
    note("very large", type, NULL, 0, 0);
    fact_json("type_map", "[{\"datatype\": \"MPI_DOUBLE\", \"offset\": 0, \"count\": 1000000000}]");
    fact_count("holes", 0);
}

static void blocks(void)
{
    MPI_Datatype type, part;
    int lengths[] = {2, 1, 3, 0}, places[] = {4, -2, 9, 30};
    MPI_Aint bytes[] = {40, -16, 4, 100};
    MPI_Type_indexed(4, lengths, places, MPI_INT, &type);
    note("indexed, out of order", commit(type), "MPI_INT", 4, 1);
    fact_int("arguments.count", 4);
    fact_ints("arguments.array_of_blocklengths", lengths, 4);
    fact_ints("arguments.array_of_displacements", places, 4);
    fact_handle("arguments.oldtype", HANDLE(MPI_INT));
    MPI_Type_create_hindexed(4, lengths, bytes, MPI_SHORT, &type);
    note("indexed by bytes", commit(type), "MPI_SHORT", 2, 1);
    fact_ints("arguments.array_of_blocklengths", lengths, 4);
    fact_json("arguments.array_of_displacements", "[40, -16, 4, 100]");
    MPI_Type_create_indexed_block(3, 2, places, MPI_FLOAT, &type);
    note("blocks of one length", commit(type), "MPI_FLOAT", 4, 1);
    fact_int("arguments.count", 3);
    fact_int("arguments.blocklength", 2);
    fact_ints("arguments.array_of_displacements", places, 3);
    MPI_Type_create_hindexed_block(4, 2, bytes, MPI_BYTE, &type);
    note("blocks of one length by bytes", commit(type), "MPI_BYTE", 1, 1);
    fact_json("arguments.array_of_displacements", "[40, -16, 4, 100]");

    struct particle {
        int kind;
        double place[2];
        char mark[3];
    };
    int counts[] = {1, 2, 3};
    MPI_Aint members[] = {0, 8, 24};
    MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE, MPI_CHAR};
    MPI_Type_create_struct(3, counts, members, types, &type);
    MPI_Type_set_name(type, "particle");
    note("a structure", commit(type), NULL, 0, 1);
    fact_ints("arguments.array_of_blocklengths", counts, 3);
    fact_json("arguments.array_of_displacements", "[0, 8, 24]");
    fact_handle("arguments.array_of_types.0", HANDLE(MPI_INT));
    fact_handle("arguments.array_of_types.1", HANDLE(MPI_DOUBLE));
    fact_handle("arguments.array_of_types.2", HANDLE(MPI_CHAR));
    fact_json("type_map", "[{\"datatype\": \"MPI_INT\", \"offset\": 0, \"count\": 1}, {\"datatype\": \"MPI_DOUBLE\","
                          " \"offset\": 8, \"count\": 2}, {\"datatype\": \"MPI_CHAR\", \"offset\": 24, \"count\": 3}]");
    fact_json("sketch", "[\"struct {\", \"    int m0;\", \"    /* gap of 4 bytes */\", \"    double m1[2];\","
                        " \"    char m2[3];\", \"    /* gap of 5 bytes */\", \"} element;\"]");
    note_text("summary", "\"particle\": MPI_Type_create_struct(3, {…}, {…}, {…}), 23 bytes in 32");
    part = type;
    MPI_Type_create_resized(part, -8, 64, &type);
    note("resized", commit(type), NULL, 0, 1);
    fact_int("arguments.lb", -8);
    fact_int("arguments.extent", 64);
    fact_handle("arguments.oldtype", HANDLE(part));
    note_text("summary", "MPI_Type_create_resized(\"particle\", -8, 64), 23 bytes in 64");
    MPI_Datatype nested[] = {part, type, MPI_INT};
    MPI_Aint apart[] = {200, 0, 100};
    MPI_Type_create_struct(3, counts, apart, nested, &type);
    note("a structure of structures", commit(type), NULL, 0, 1);
    MPI_Type_create_resized(MPI_INT, 0, 3, &part);
    MPI_Type_contiguous(3, part, &type);
    note("elements that overlap", type, NULL, 0, 0);
    MPI_Type_create_struct(0, NULL, NULL, NULL, &type);
    note("a structure without members", type, NULL, 0, 0);

    int many[300], ones[300];
    for (int at = 0; at < 300; at++) {
        many[at] = 3 * at;
        ones[at] = 1 + at % 2;
    }
    MPI_Type_indexed(300, ones, many, MPI_INT, &type);
    note("many blocks", commit(type), "MPI_INT", 4, 1);
    note_text("summary", "MPI_Type_indexed(300, {…}, {…}, MPI_INT), 1800 bytes in 3596");
}

static void arrays(void)
{
    MPI_Datatype type, part;
    int sizes[] = {6, 5, 4}, inner[] = {2, 3, 2}, starts[] = {3, 1, 2};
    MPI_Type_create_subarray(2, sizes, inner, starts, MPI_ORDER_C, MPI_INT, &type);
    note("a part of a matrix", commit(type), "MPI_INT", 4, 1);
    fact_int("arguments.ndims", 2);
    fact_ints("arguments.array_of_sizes", sizes, 2);
    fact_ints("arguments.array_of_subsizes", inner, 2);
    fact_ints("arguments.array_of_starts", starts, 2);
    fact_text("arguments.order", "MPI_ORDER_C");
    fact_json("sketch", "[\"int element[6][5];  /* of these only [3..4][1..3] */\"]");
    MPI_Type_create_subarray(3, sizes, inner, starts, MPI_ORDER_C, MPI_INT, &type);
    note("a part of a cube", commit(type), "MPI_INT", 4, 1);
    MPI_Type_create_subarray(3, sizes, inner, starts, MPI_ORDER_FORTRAN, MPI_DOUBLE, &type);
    note("a part of a cube in Fortran's order", commit(type), "MPI_DOUBLE", 8, 1);
    fact_text("arguments.order", "MPI_ORDER_FORTRAN");
    MPI_Type_create_subarray(1, sizes, inner, starts, MPI_ORDER_FORTRAN, MPI_DOUBLE, &type);
    note("a part of a row", commit(type), "MPI_DOUBLE", 8, 1);
    part = type;
    MPI_Type_vector(2, 2, 3, part, &type);
    note("a vector of parts of rows", commit(type), "MPI_DOUBLE", 8, 1);
    fact_handle("datatypes.0", HANDLE(part));
    note_summary_has("MPI_Type_vector(2, 2, 3, MPI_Type_create_subarray(…)), 64 bytes in ");

    int distributions[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE};
    int details[] = {MPI_DISTRIBUTE_DFLT_DARG, 2, MPI_DISTRIBUTE_DFLT_DARG}, grid[] = {3, 2, 1}, whole[] = {7, 9, 3};
    int offsets[7 * 9 * 3 * 2];
    for (int rank = 0; rank < 6; rank++)
        for (int order = 0; order < 2; order++) {
            MPI_Type_create_darray(6, rank, 3, whole, distributions, details, grid,
                                   order ? MPI_ORDER_FORTRAN : MPI_ORDER_C, MPI_SHORT, &type);
            note_made("a part of a distributed array", commit(type), 1);
            data_is_at(type, "MPI_SHORT", 2, offsets, distributed(rank, order, whole, grid, offsets));
            fact_int("arguments.size", 6);
            fact_int("arguments.rank", rank);
            fact_int("arguments.ndims", 3);
            fact_ints("arguments.array_of_gsizes", whole, 3);
            fact_json("arguments.array_of_distribs",
                      "[\"MPI_DISTRIBUTE_BLOCK\", \"MPI_DISTRIBUTE_CYCLIC\", \"MPI_DISTRIBUTE_NONE\"]");
            fact_json("arguments.array_of_dargs", "[\"MPI_DISTRIBUTE_DFLT_DARG\", 2, \"MPI_DISTRIBUTE_DFLT_DARG\"]");
            fact_ints("arguments.array_of_psizes", grid, 3);
            fact_text("arguments.order", order ? "MPI_ORDER_FORTRAN" : "MPI_ORDER_C");
        }
}

static void predefined(void)
{
    MPI_Datatype type, named[] = {MPI_INT, MPI_DOUBLE, MPI_CHAR, MPI_LONG_DOUBLE, MPI_DOUBLE_INT, MPI_SHORT_INT, MPI_2INT,
                                  MPI_INTEGER, MPI_BYTE, MPI_AINT};
    for (int at = 0; at < ELEMENTS(named); at++) {
        char name[MPI_MAX_OBJECT_NAME];
        int length;
        /* Fortran's, in an MPICH without Fortran. */
        if (named[at] == MPI_DATATYPE_NULL)
            continue;
        note("predefined", named[at], NULL, 0, 1);
        MPI_Type_get_name(named[at], name, &length);
        note_text("summary", name);
        note_bool("predefined", 1);
        note_int("fortran", MPI_Type_c2f(named[at]));
        fact_json("type_map", "[{\"datatype\": \"%s\", \"offset\": 0, \"count\": 1}]", name);
        handle_listed(1);
    }
    MPI_Type_contiguous(3, MPI_SHORT_INT, &type);
    note("pairs", commit(type), NULL, 0, 1);
    fact_json("type_map", "[{\"datatype\": \"MPI_SHORT_INT\", \"offset\": 0, \"count\": 3}]");
    if (MPI_Type_create_f90_real == NULL)
        return;
    MPI_Type_create_f90_real(6, 30, &type);
#ifdef OPEN_MPI
    note("a real of Fortran", type, "MPI_FLOAT", 4, 1);
#else
    note("a real of Fortran", type, "MPI_REAL", 4, 1);
#endif
    fact_int("arguments.p", 6);
    fact_int("arguments.r", 30);
    note_text("summary", "MPI_Type_create_f90_real(6, 30), 4 bytes");
    note_bool("predefined", 1);
    MPI_Type_create_f90_integer(9, &type);
    note("an integer of Fortran", type, NULL, 0, 1);
    fact_int("arguments.r", 9);
    MPI_Type_create_f90_complex(15, 300, &type);
    note("a complex number of Fortran", type, NULL, 0, 1);
    fact_int("arguments.p", 15);
    fact_int("arguments.r", 300);
}

static unsigned state;

static int below(int limit)
{
    state = state * 1103515245 + 12345;
    return (int)((state >> 16) % (unsigned)limit);
}

/* Datatypes of datatypes of MPI_SHORT. */
static void at_random(void)
{
    MPI_Datatype made[RANDOM_TYPES];
    state = 77 + (unsigned)handles_rank;
    for (int count = 0; count < RANDOM_TYPES;) {
        MPI_Datatype type, old = count && below(4) ? made[below(count)] : MPI_SHORT, two[3];
        int n = 1 + below(4), lengths[5], places[5], inner[3], sizes[3], starts[3];
        MPI_Aint bytes[5], lb, extent;
        MPI_Type_get_extent(old, &lb, &extent);
        for (int at = 0; at < 5; at++) {
            lengths[at] = FEWEST + below(4 - FEWEST);
            places[at] = below(12) - 4;
            bytes[at] = 2 * (below(100) - 30);
        }
        for (int at = 0; at < 3; at++) {
            sizes[at] = 1 + below(5);
            inner[at] = 1 + below(sizes[at]);
            starts[at] = below(sizes[at] - inner[at] + 1);
            two[at] = count && below(2) ? made[below(count)] : old;
        }
        int combiner = below(10);
        switch (combiner) {
        case 0: MPI_Type_contiguous(n, old, &type); break;
        case 1: MPI_Type_vector(n, lengths[0], places[0], old, &type); break;
        case 2: MPI_Type_create_hvector(n, lengths[0], bytes[0], old, &type); break;
        case 3: MPI_Type_indexed(n, lengths, places, old, &type); break;
        case 4: MPI_Type_create_hindexed(n, lengths, bytes, old, &type); break;
        case 5: MPI_Type_create_indexed_block(n, lengths[0], places, old, &type); break;
        case 6: MPI_Type_create_hindexed_block(n, lengths[0], bytes, old, &type); break;
        case 7: MPI_Type_create_struct(3, lengths, bytes, two, &type); break;
        case 8: MPI_Type_create_subarray(1 + below(3), sizes, inner, starts, below(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN,
                                         old, &type); break;
        default: MPI_Type_create_resized(old, bytes[0], bytes[1] + 80, &type); break;
        }
        int size;
        MPI_Type_size(type, &size);
        MPI_Type_get_extent(type, &lb, &extent);
        if (size > 2000 || extent > LARGEST || extent < 0) {
            MPI_Type_free(&type);
            continue;
        }
        /* Open MPI makes a resized datatype as a copy, which is as committed as the old one was. */
        note("made at random", type, "MPI_SHORT", 2, combiner == 9 ? -1 : 0);
        fact_handle("datatypes.0", HANDLE(combiner == 7 ? two[0] : old));
        made[count++] = type;
    }
}

int main(int argc, char **argv)
{
    static char buffer[1000000];
    handles_begin(&argc, &argv, MPI_THREAD_SINGLE);
    simple();
    blocks();
    arrays();
    predefined();
    at_random();

    MPI_Datatype used, part, gone;
    MPI_Request send;
    MPI_Type_contiguous(500, MPI_CHAR, &part);
    MPI_Type_vector(1000, 1, 2, part, &used);
    MPI_Type_commit(&used);
    MPI_Issend(buffer, 1, used, 1 - handles_rank, 1, MPI_COMM_WORLD, &send);
    handle_is("datatype", HANDLE(used), "freed while a send uses it");
    fact_refers_to("requests", HANDLE(send));
    fact_count("requests", 1);
    handle_listed(1);
    handle_is("datatype", HANDLE(part), "a part of one that a send uses");
    fact_count("requests", 0);
    handle_listed(1);
    MPI_Type_free(&used);

    MPI_Type_contiguous(3, MPI_INT, &gone);
    handle_is("datatype", HANDLE(gone), "freed");
    note_text("state", "freed");
    note_bool("freed", 1);
    note_summary_has("freed MPI_Datatype");
    handle_listed(0);
    MPI_Type_free(&gone);
    handles_hang();
}
