from numba import njit

from skerry.kernels._parts import compile_part


def _add_one(x):
    return x + 1


add_one = compile_part(_add_one, {"nogil": True})


@njit
def add_two(x):
    return add_one(add_one(x))


def test_part_has_machine_code_in_its_callers_and_where_python_calls_it():
    assert add_two(1) == 3
    [part] = add_one.overloads.values()
    assert part.library.get_pointer_to_function(part.fndesc.llvm_func_name) == 0
    assert not add_one.whole.overloads
    assert add_one(1) == 2
