from skerry.kernels.precompile import precompile


def test_kernels_can_be_precompiled_twice():
    precompile()
    precompile()
