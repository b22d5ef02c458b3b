-- A modulefile for Lmod, such as /opt/modulefiles/mpi-queues/0.1.0.lua. docs/installing.md says what lies below root.
local version = "0.1.0"
local root = pathJoin("/opt/mpi-queues", version)

help("Says why an MPI job is stuck. Type: mpi-queues diagnose")
whatis("Name: mpi-queues")
whatis("Version: " .. version)
whatis("Description: Why is my MPI job stuck? Names the cause of a hang: ranks, calls, lines, and what to change.")

prepend_path("PATH", pathJoin(root, "bin"))
