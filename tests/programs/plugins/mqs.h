/* The mqs interface (message queue dumping, 9 October 2000, with its MPI-2 extensions), written from the document for
 * the plug-ins of our own tests. What an ABI test compares is the MPI vendors' header, not this one. */
#ifndef MQS_TEST_H
#define MQS_TEST_H

#include <stddef.h>
#include <stdio.h>

typedef unsigned long mqs_taddr_t;
typedef long mqs_tword_t;

enum { mqs_ok, mqs_no_information, mqs_end_of_list, mqs_first_user_code = 100 };
enum { mqs_lang_c = 'c' };
enum { mqs_pending_sends, mqs_pending_receives, mqs_unexpected_messages };
enum { mqs_st_pending, mqs_st_matched, mqs_st_complete };

typedef struct mqs_image_ mqs_image;
typedef struct mqs_process_ mqs_process;
typedef struct mqs_job_ mqs_job;
typedef struct mqs_type_ mqs_type;

/* The shorter one of the two that are around. */
typedef struct {
    int short_size, int_size, long_size, long_long_size, pointer_size;
} mqs_target_type_sizes;

typedef struct {
    mqs_taddr_t unique_id;
    mqs_tword_t local_rank, size;
    char name[64];
} mqs_communicator;

typedef struct {
    int status;
    mqs_tword_t desired_local_rank, desired_global_rank;
    int tag_wild;
    mqs_tword_t desired_tag, desired_length;
    int system_buffer;
    mqs_taddr_t buffer;
    mqs_tword_t actual_local_rank, actual_global_rank, actual_tag, actual_length;
    char extra_text[5][64];
} mqs_pending_operation;

typedef struct {
    long pid;
    char image_name[FILENAME_MAX];
    char host_name[64];
} mqs_process_location;

typedef struct {
    void *(*malloc_fp)(size_t);
    void (*free_fp)(void *);
    void (*dprints_fp)(const char *);
    char *(*errorstring_fp)(int);
    void (*put_image_info_fp)(mqs_image *, void *);
    void *(*get_image_info_fp)(mqs_image *);
    void (*put_process_info_fp)(mqs_process *, void *);
    void *(*get_process_info_fp)(mqs_process *);
    void (*put_job_info_fp)(mqs_job *, void *);
    void *(*get_job_info_fp)(mqs_job *);
} mqs_basic_callbacks;

typedef struct {
    mqs_process *(*get_process_fp)(mqs_job *, int);
} mqs_job_callbacks;

typedef struct {
    void (*get_type_sizes_fp)(mqs_process *, mqs_target_type_sizes *);
    int (*find_function_fp)(mqs_image *, char *, int, mqs_taddr_t *);
    int (*find_symbol_fp)(mqs_image *, char *, mqs_taddr_t *);
    mqs_type *(*find_type_fp)(mqs_image *, char *, int);
    int (*field_offset_fp)(mqs_type *, char *);
    int (*sizeof_fp)(mqs_type *);
} mqs_image_callbacks;

typedef struct {
    int (*get_global_rank_fp)(mqs_process *);
    mqs_image *(*get_image_fp)(mqs_process *);
    int (*fetch_data_fp)(mqs_process *, mqs_taddr_t, int, void *);
    void (*target_to_host_fp)(mqs_process *, const void *, void *, int);
    mqs_job *(*get_process_job_fp)(mqs_process *);
    int (*get_process_identity_fp)(mqs_job *); /* as the document has it: a process is meant */
} mqs_process_callbacks;

#endif
