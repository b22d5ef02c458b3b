! Each rank hands a number to the next one.
program ring
  use mpi
  implicit none
  integer :: rank, ranks, number, ierror, status(MPI_STATUS_SIZE)
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call MPI_Recv(number, 1, MPI_INTEGER, modulo(rank - 1, ranks), 1, MPI_COMM_WORLD, status, ierror)
  number = number + 1
  call MPI_Send(number, 1, MPI_INTEGER, modulo(rank + 1, ranks), 1, MPI_COMM_WORLD, ierror)
  call MPI_Finalize(ierror)
end program ring
