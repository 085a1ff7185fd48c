import os
import subprocess
import sys

_CALL = """
from skerry.cli.compile_notes import note_compilations
with note_compilations(print):
    import numpy as np
    from skerry.kernels.lateness import mark_late
    mark_late(np.zeros(1, np.int64), 0, 0)
"""


def test_kernels_that_are_compiled_are_named_and_those_from_the_cache_are_not(tmp_path):
    printed = [
        subprocess.check_output([sys.executable, "-c", _CALL], env={**os.environ, "XDG_CACHE_HOME": str(tmp_path)})
        for _ in range(2)
    ]
    assert printed == [b"compiling kernels of lateness (once)\n", b""]
