from skerry.kernels.precompile import warm


def test_kernels_can_be_warmed_twice():
    warm()
    warm()
