#%Module
# A modulefile for Environment Modules, such as /opt/modulefiles/mpi-queues/0.1.0. docs/installing.md says what lies below root.
set version 0.1.0
set root /opt/mpi-queues/$version

proc ModulesHelp { } {
    puts stderr "Says why an MPI job is stuck. Type: mpi-queues diagnose"
}
module-whatis "Why is my MPI job stuck? Names the cause of a hang: ranks, calls, lines, and what to change."

prepend-path PATH $root/bin
