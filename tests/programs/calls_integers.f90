! As calls.f90, with the module mpi: handles are integers, and ierror is given.
program calls
  use mpi
  implicit none
  integer, parameter :: halo_tag = 17
  integer :: rank, ranks, ierror, halo, request, status(MPI_STATUS_SIZE)
  real :: x(5)
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call MPI_Comm_dup(MPI_COMM_WORLD, halo, ierror)
  if (rank == 0) then
    print '(a, i0)', 'given comm ', halo
    print '(a, i0)', 'given tag ', halo_tag
    print '(a)', 'given count 1', 'means source MPI_ANY_SOURCE', 'means datatype MPI_REAL'
    print '(a)', 'call mpi_recv 18', 'ready'
    flush (6)
    call MPI_RECV(x, 1, MPI_REAL, MPI_ANY_SOURCE, halo_tag, halo, status, ierror)
  else
    call MPI_Irecv(x, 1, MPI_REAL, 0, 1, MPI_COMM_WORLD, request, ierror)
    print '(a, i0)', 'given request ', request
    ! gfortran 12 tells the line of the if for this call: none is said.
    print '(a)', 'call mpi_wait 0', 'ready'
    flush (6)
    call MPI_Wait(request, status, ierror)
  end if
  call MPI_Finalize(ierror)
end program
