/*
 * Compiled only for its debug information: pulls in the structures of MPICH 3.4 to 5.0 that mpi-queues reads.
 *
 * Nothing of MPICH is copied here; the headers come from a configured source tree, which needs not be built
 * (layouts/make-mpich.sh).
 */
#include "mpiimpl.h"

/* The transports that the tree is configured with: mpiimpl.h has the parts of requests and communicators, but not what
 * belongs to the transport as a whole. */
#ifdef HAVE_CH4_NETMOD_UCX
#include "src/mpid/ch4/netmod/ucx/ucx_impl.h"
#endif
#ifdef HAVE_CH4_NETMOD_OFI
#include "src/mpid/ch4/netmod/ofi/ofi_impl.h"
#endif

/* What the device has beside its parts of objects: ch3's connections and process groups. */
#if __has_include("mpidimpl.h")
#include "mpidimpl.h"
#endif

/* The schedulers of nonblocking collectives. */
#include "src/mpid/common/sched/mpidu_sched.h"
#if __has_include("src/mpi/coll/transports/gentran/gentran_types.h") /* since 4.0 */
#include "src/mpi/coll/transports/gentran/gentran_types.h"
#else
#include "src/mpi/coll/transports/gentran/tsp_gentran_types.h"
#endif

/* These stand in C files: the buffers of buffered sends, the lists for debuggers. */
#include "src/mpi/pt2pt/bsendutil.c"
#ifdef HAVE_DEBUGGER_SUPPORT
#include "src/mpi/debugger/dbginit.c"
#endif

/* The constants that the headers have as macros; the script writes one line for each. */
#ifdef MQ_CONSTANTS
#define MQ(X) enum { MQ_##X = (long)(X) };
#include MQ_CONSTANTS
#endif
