/*
 * Compiled only for its debug information: pulls in the structures of Open MPI 5.0 that mpi-queues reads.
 *
 * Nothing of Open MPI is copied here; the headers come from its source package and from the generated opal_config.h of
 * Debian's libopenmpi-dev (layouts/make-shipped.sh).
 */
#include "ompi_config.h"
#include "ompi/attribute/attribute.h"
#include "ompi/communicator/communicator.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/errhandler/errhandler.h"
#include "ompi/file/file.h"
#include "ompi/group/group.h"
#include "ompi/info/info.h"
#include "ompi/instance/instance.h"
#include "ompi/mca/coll/base/coll_tags.h"
#include "ompi/mca/coll/libnbc/coll_libnbc.h"
#include "ompi/mca/part/persist/part_persist_request.h"
#include "ompi/mca/pml/base/pml_base_recvreq.h"
#include "ompi/mca/pml/base/pml_base_sendreq.h"
#include "ompi/mca/pml/ob1/pml_ob1.h"
#include "ompi/mca/pml/ob1/pml_ob1_comm.h"
#include "ompi/mca/pml/ob1/pml_ob1_hdr.h"
#include "ompi/mca/pml/ob1/pml_ob1_rdmafrag.h"
#include "ompi/mca/pml/ob1/pml_ob1_recvfrag.h"
#include "ompi/mca/pml/ob1/pml_ob1_recvreq.h"
#include "ompi/mca/pml/ob1/pml_ob1_sendreq.h"
#include "ompi/mca/topo/topo.h"
#include "ompi/message/message.h"
#include "ompi/op/op.h"
#include "ompi/proc/proc.h"
#include "ompi/request/grequest.h"
#include "ompi/request/request.h"
#include "ompi/runtime/mpiruntime.h"
#include "ompi/win/win.h"
#include "opal/class/opal_free_list.h"
#include "opal/class/opal_hash_table.h"
#include "opal/class/opal_list.h"
#include "opal/class/opal_pointer_array.h"
#include "opal/mca/btl/btl.h"

/* These stand in C files: ompi_datatype_args_t; attribute_value_t, attribute_key_value_t; opal_free_list_memory_t. */
#include "ompi/attribute/attribute.c"
#include "ompi/datatype/ompi_datatype_args.c"
#include "opal/class/opal_free_list.c"

#include "openmpi-constants.h"
