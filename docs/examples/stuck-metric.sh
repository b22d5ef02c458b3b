#!/bin/sh
# For --then: writes a metric for the textfile collector of Prometheus's node_exporter.
set -eu
job=$(printf %s "$1" | tr -c 'A-Za-z0-9-' _)
file=${TEXTFILES:-/var/lib/prometheus/node-exporter}/mpi_queues_$job.prom
cat >"$file.new" <<END
# HELP mpi_queues_stuck Whether the MPI job is stuck.
# TYPE mpi_queues_stuck gauge
mpi_queues_stuck{mpi_job="$job",state="$MPI_QUEUES_STATE"} 1
# HELP mpi_queues_stuck_since_seconds Since when it is, in seconds since 1970.
# TYPE mpi_queues_stuck_since_seconds gauge
mpi_queues_stuck_since_seconds{mpi_job="$job"} $MPI_QUEUES_SINCE
END
mv "$file.new" "$file"
