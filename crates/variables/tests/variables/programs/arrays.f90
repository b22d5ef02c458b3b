! Variables and types of Fortran.
module kinds
  implicit none
  integer, parameter :: fixed = 21
  integer :: counter = 22
  integer, dimension(3) :: triple = [31, 32, 33]
  integer, allocatable :: grown(:, :)
  integer, pointer :: pointed(:) => null()
  real(8) :: ratio = 0.5d0
  logical :: truth = .true.
  type :: mpi_comm
    integer :: mpi_val = 0
  end type
  type :: base
    integer :: id = 5
  end type
  type, extends(base) :: particle
    integer :: charge = -1
    real :: mass = 1.0
    integer :: path(2, 3)
    integer, allocatable :: list(:)
    integer, pointer :: link(:)
    type(mpi_comm) :: comm
    type(particle), pointer :: next => null()
    character(len=7) :: title = 'quarks'
  end type
  type(particle), target :: electron
end module

module more
  use kinds, only: renamed => counter, triple, base, mpi_comm
  implicit none
  external :: use, stop_here
  integer :: own = 41
contains
  subroutine leaf(n, x, assumed, explicit, size_of_it, text, who, given, comm, skipped)
    integer, intent(in) :: n
    integer, intent(inout) :: x
    integer, intent(inout) :: assumed(:, 0:)
    integer, intent(in) :: size_of_it
    integer, intent(inout) :: explicit(size_of_it, -1:size_of_it)
    character(len=*), intent(in) :: text
    class(base), intent(in) :: who
    integer, intent(in) :: given(*)
    type(mpi_comm), intent(in) :: comm
    integer, intent(in) :: skipped(:)
    integer, save :: kept = 42
    integer :: automatic(n)
    integer, allocatable :: local(:)
    logical(1) :: small
    integer(8) :: large
    integer :: i
    integer :: shared_a, shared_b(4)
    common /block/ shared_a, shared_b
    automatic = [(100 + i, i = 1, n)]
    allocate(local(-2:n))
    local = [(200 + i, i = -2, n)]
    shared_a = 51
    shared_b = [52, 53, 54, 55]
    small = .true.
    large = 1234567890123_8
    kept = kept + x - 7
    call use(automatic)
    call use(local)
    call use(large)
    call use(small)
    call inside(3)
    x = x + automatic(1) + local(n) + explicit(1, 0) + assumed(1, 0) + given(1) + who%id + comm%mpi_val + len(text) + skipped(1)
    deallocate(local)
  contains
    recursive subroutine inside(depth)
      integer, intent(in) :: depth
      integer :: deeper
      deeper = depth + n
      call use(deeper)
      automatic(2) = automatic(2) + renamed - 22
      if (depth > 1) then
        call inside(depth - 1)
      else
        call stop_here()
      end if
      call use(deeper)
      local(0) = deeper
    end subroutine
  end subroutine
end module

program arrays
  use kinds
  use more, only: leaf, own
  implicit none
  integer :: x, table(3, 0:4), wide(6), i, j
  integer, allocatable :: scalar
  integer, pointer :: some(:)
  integer, target :: source(10)
  character(len=9) :: text
  complex :: z
  external :: use
  allocate(grown(2, 0:3))
  do i = 1, 2
    do j = 0, 3
      grown(i, j) = 10 * i + j
    end do
  end do
  do i = 1, 3
    do j = 0, 4
      table(i, j) = 100 * i + j
    end do
  end do
  source = [(i, i = 61, 70)]
  pointed => source(1:9:2)
  some => source(10:2:-3)
  wide = [1, 2, 3, 4, 5, 6]
  electron%path = reshape([1, 2, 3, 4, 5, 6], [2, 3])
  allocate(electron%list(3))
  electron%list = [71, 72, 73]
  electron%link => source(3:5)
  electron%comm%mpi_val = 1140850688
  electron%next => electron
  x = 7
  allocate(scalar)
  scalar = 81
  text = 'some text'
  z = (1.0, 2.0)
  call use(wide)
  call use(source)
  call leaf(4, x, table, wide(1:3), 1, text, electron, source(2:), electron%comm, source(1:10:3))
  print *, x, ratio, truth, scalar, counter, fixed, own, triple(1), some(1), electron%id, z, text
end program
