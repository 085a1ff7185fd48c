"""The session checks what it is given before it looks at what runs already."""

import pytest

from skerry.errors import OptionError
from skerry.spark.session import session


@pytest.mark.spark
def test_wrong_master_is_refused_beside_a_running_session():
    with pytest.raises(OptionError, match="'spork://a:1' is no Spark master; known are local"):
        session("spork://a:1")
