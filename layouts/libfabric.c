/*
 * Compiled only for its debug information, once for each provider of libfabric: pulls in the structures that mpi-queues reads.
 *
 * Nothing of libfabric is copied here; the headers come from its source, with a configuration that has what changes structures
 * (layouts/make-libfabric.sh).
 */
#include "config.h"

#include PROVIDER
