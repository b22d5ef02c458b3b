! Functions of Fortran as gfortran makes them.
module field
  implicit none
  type :: cell
    real :: value
  contains
    procedure :: twice
  end type cell
  interface
    module subroutine from_submodule(n)
      integer, intent(inout) :: n
    end subroutine from_submodule
  end interface
contains
  function twice(self) result(r)
    class(cell), intent(in) :: self
    real :: r
    r = self%value * 2
  end function twice

  subroutine exchange(n, total)
    integer, intent(in) :: n
    integer, intent(out) :: total
    integer :: i
    total = 0
    do i = 1, n
      total = total + inner(i)
    end do
  contains
    integer function inner(k)
      integer, intent(in) :: k
      inner = k * n + Shift(k)
    end function inner
  end subroutine exchange

  integer function Shift(k)
    integer, intent(in) :: k
    Shift = k + 3
  end function Shift
end module field

submodule (field) details
contains
  module subroutine from_submodule(n)
    integer, intent(inout) :: n
    n = n + 1
  end subroutine from_submodule
end submodule details

subroutine Outside(n)
  integer, intent(inout) :: n
  n = n * 2
  return
  entry second_entry(n)
  n = n * 3
end subroutine Outside

program Solve
  use field
  implicit none
  integer :: total
  type(cell) :: one
  one%value = 1.5
  call exchange(4, total)
  call outside(total)
  call from_submodule(total)
  call helper(total)
  print *, total, one%twice()
contains
  subroutine helper(n)
    integer, intent(inout) :: n
    n = n - 1
  end subroutine helper
end program Solve
