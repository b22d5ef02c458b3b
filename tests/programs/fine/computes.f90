! Rank 0 sets up a table while the others wait for it.
!
! ranks: 2
! expect: slow rank ranks=0
program computes
  use mpi_f08
  implicit none
  integer :: rank
  integer(8) :: i
  double precision :: table(100)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  table = 0
  print '(a)', 'ready'
  flush (6)
  if (rank == 0) then
    do i = 1, 1000000000000_8
      table(1 + modulo(i, 100_8)) = table(1 + modulo(i, 100_8)) + sin(1d0*i)
    end do
  end if
  call MPI_Bcast(table, 100, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD)
  print *, table(1)
  call MPI_Finalize()
end program computes
