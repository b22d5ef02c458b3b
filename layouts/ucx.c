/*
 * Compiled only for its debug information: pulls in the structures of UCX 1.13 to 1.20 that mpi-queues reads.
 *
 * Nothing of UCX is copied here; the headers come from its source, with a configuration that has what changes structures
 * (layouts/make-ucx.sh).
 */
#include "config.h"

#include <ucp/core/ucp_ep.h>
#include <ucp/core/ucp_request.h>
#include <ucp/core/ucp_worker.h>
#include <ucp/dt/dt_generic.h>
#include <ucp/rndv/rndv.h>
#include <ucp/tag/eager.h>
#include <ucp/tag/tag_match.h>
#include <ucs/datastruct/mpool.h>
