from skerry.index.precompile import precompile_index


def test_index_can_be_precompiled_twice():
    precompile_index()
    precompile_index()
