/* Prints sizes, offsets and values of the mqs interface as JSON, from the header that Open MPI ships.
 *
 * Compiled by crates/plugins/tests/plugins/mqs/abi.rs against an unchanged copy of msgq_interface.h, in which only the line that switches
 * the MPI-2 part off is replaced, so that both settings can be compared.
 */
#include <stddef.h>
#include <stdio.h>

#include "msgq_interface.h"

static const char *separator = "";

static void put(const char *name, long value)
{
    printf("%s\n  \"%s\": %ld", separator, name, value);
    separator = ",";
}

#define VALUE(name) put(#name, (long)(name))
#define SIZE(type) put("sizeof " #type, (long)sizeof(type))
#define OFFSET(type, member) put(#type "." #member, (long)offsetof(type, member))

int main(void)
{
    printf("{");
    VALUE(MQS_INTERFACE_COMPATIBILITY);
    VALUE(MQS_INVALID_PROCESS);
    VALUE(mqs_ok);
    VALUE(mqs_no_information);
    VALUE(mqs_end_of_list);
    VALUE(mqs_first_user_code);
    VALUE(mqs_lang_c);
    VALUE(mqs_pending_sends);
    VALUE(mqs_pending_receives);
    VALUE(mqs_unexpected_messages);
    VALUE(mqs_st_pending);
    VALUE(mqs_st_matched);
    VALUE(mqs_st_complete);
    SIZE(mqs_taddr_t);
    SIZE(mqs_tword_t);
    SIZE(mqs_communicator);
    OFFSET(mqs_communicator, unique_id);
    OFFSET(mqs_communicator, local_rank);
    OFFSET(mqs_communicator, size);
    OFFSET(mqs_communicator, name);
    SIZE(mqs_pending_operation);
    OFFSET(mqs_pending_operation, status);
    OFFSET(mqs_pending_operation, desired_local_rank);
    OFFSET(mqs_pending_operation, desired_global_rank);
    OFFSET(mqs_pending_operation, tag_wild);
    OFFSET(mqs_pending_operation, desired_tag);
    OFFSET(mqs_pending_operation, desired_length);
    OFFSET(mqs_pending_operation, system_buffer);
    OFFSET(mqs_pending_operation, buffer);
    OFFSET(mqs_pending_operation, actual_local_rank);
    OFFSET(mqs_pending_operation, actual_global_rank);
    OFFSET(mqs_pending_operation, actual_tag);
    OFFSET(mqs_pending_operation, actual_length);
    OFFSET(mqs_pending_operation, extra_text);
    OFFSET(mqs_target_type_sizes, short_size);
    OFFSET(mqs_target_type_sizes, int_size);
    OFFSET(mqs_target_type_sizes, long_size);
    OFFSET(mqs_target_type_sizes, long_long_size);
    OFFSET(mqs_target_type_sizes, pointer_size);
    SIZE(mqs_target_type_sizes);
    OFFSET(mqs_basic_callbacks, mqs_malloc_fp);
    OFFSET(mqs_basic_callbacks, mqs_free_fp);
    OFFSET(mqs_basic_callbacks, mqs_dprints_fp);
    OFFSET(mqs_basic_callbacks, mqs_errorstring_fp);
    OFFSET(mqs_basic_callbacks, mqs_put_image_info_fp);
    OFFSET(mqs_basic_callbacks, mqs_get_image_info_fp);
    OFFSET(mqs_basic_callbacks, mqs_put_process_info_fp);
    OFFSET(mqs_basic_callbacks, mqs_get_process_info_fp);
    SIZE(mqs_basic_callbacks);
    OFFSET(mqs_image_callbacks, mqs_get_type_sizes_fp);
    OFFSET(mqs_image_callbacks, mqs_find_function_fp);
    OFFSET(mqs_image_callbacks, mqs_find_symbol_fp);
    OFFSET(mqs_image_callbacks, mqs_find_type_fp);
    OFFSET(mqs_image_callbacks, mqs_field_offset_fp);
    OFFSET(mqs_image_callbacks, mqs_sizeof_fp);
    SIZE(mqs_image_callbacks);
    OFFSET(mqs_process_callbacks, mqs_get_global_rank_fp);
    OFFSET(mqs_process_callbacks, mqs_get_image_fp);
    OFFSET(mqs_process_callbacks, mqs_fetch_data_fp);
    OFFSET(mqs_process_callbacks, mqs_target_to_host_fp);
    SIZE(mqs_process_callbacks);
#if FOR_MPI2
    OFFSET(mqs_basic_callbacks, mqs_put_job_info_fp);
    OFFSET(mqs_basic_callbacks, mqs_get_job_info_fp);
    OFFSET(mqs_process_callbacks, mqs_get_process_job_fp);
    OFFSET(mqs_process_callbacks, mqs_get_process_identity_fp);
    OFFSET(mqs_job_callbacks, mqs_get_process_fp);
    SIZE(mqs_job_callbacks);
    SIZE(mqs_process_location);
    OFFSET(mqs_process_location, pid);
    OFFSET(mqs_process_location, image_name);
    OFFSET(mqs_process_location, host_name);
#endif
    printf("\n}\n");
    return 0;
}
