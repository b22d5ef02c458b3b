! A ring of blocking receives, with mpi_f08 handles.
!
! ranks: 3
! verdict: deadlock
! expect: deadlock ranks=0,1,2 lines=0:RECV,1:RECV,2:RECV certain
! cause: deadlock lines=0:RECV,1:RECV,2:RECV
program f_ring
  use mpi_f08
  implicit none
  type(MPI_Comm) :: ring
  integer :: rank, ranks, token
  call MPI_Init()
  call MPI_Comm_dup(MPI_COMM_WORLD, ring)
  call MPI_Comm_set_name(ring, 'ring')
  call MPI_Comm_rank(ring, rank)
  call MPI_Comm_size(ring, ranks)
  token = rank
  print '(a)', 'ready'
  flush (6)
  call MPI_Recv(token, 1, MPI_INTEGER, modulo(rank - 1, ranks), 5, ring, MPI_STATUS_IGNORE) ! @RECV
  call MPI_Send(token, 1, MPI_INTEGER, modulo(rank + 1, ranks), 5, ring)
  call MPI_Comm_free(ring)
  call MPI_Finalize()
end program f_ring
