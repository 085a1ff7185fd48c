from skerry.index.precompile import warm_index


def test_index_can_be_warmed_twice():
    warm_index()
    warm_index()
