! As calls.c, with the module mpi_f08: ierror left out, arguments by name, an intrinsic function, arrays of requests.
module grid
  use mpi_f08
  implicit none
  type(MPI_Comm) :: halo
  integer, parameter :: base_tag = 40
contains
  subroutine at(function, line)
    character(*), intent(in) :: function
    integer, intent(in) :: line
    print '(a, a, i0)', 'call ', function // ' ', line
    print '(a)', 'ready'
    flush (6)
  end subroutine

  subroutine wait_for_all(count, peer)
    integer, intent(in) :: count, peer
    type(MPI_Request) :: requests(2)
    real :: x(10), y(10)
    call MPI_Irecv(x, count, MPI_REAL, peer, 5, halo, requests(1))
    call MPI_Irecv(y, count, MPI_REAL, MPI_ANY_SOURCE, 6, halo, requests(2))
    print '(a, i0, 1x, i0)', 'given array_of_requests ', requests(1)%MPI_VAL, requests(2)%MPI_VAL
    print '(a, i0)', 'given count ', size(requests)
    print '(a)', 'means array_of_statuses MPI_STATUSES_IGNORE'
    call at('mpi_waitall', 26)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  end subroutine
end module

program calls
  use grid
  integer :: rank, ranks, tag
  real :: x(5)
  type(MPI_Status) :: status
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call MPI_Comm_dup(MPI_COMM_WORLD, halo)
  tag = 2
  if (rank == 0) then
    print '(a, i0)', 'given source ', mod(rank + 1, ranks)
    print '(a, i0)', 'given tag ', base_tag + tag
    print '(a, i0)', 'given comm ', halo%MPI_VAL
    print '(a)', 'given count 3', 'means datatype MPI_REAL'
    call at('mpi_recv', 48)
    call MPI_Recv(x(2), 3, MPI_REAL, & ! in (three
                  mod(rank + 1, ranks), base_tag + tag, &
                  halo, status=status)
  else if (rank == 1) then
    call wait_for_all(4, rank - 1)
  else
    print '(a)', 'given root 0', 'given count 5', 'means comm MPI_COMM_WORLD'
    call at('mpi_bcast', 54)
    call MPI_Bcast(x, 5, MPI_REAL, rank - 2, MPI_COMM_WORLD)
  end if
  call MPI_Finalize()
end program
