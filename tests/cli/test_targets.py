"""Writing all files or none: what is said when one of them fails."""

from __future__ import annotations

import os

import pytest

from tamis.cli._failures import CommandError
from tamis.cli._targets import write_all


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_failure_on_a_pipe_is_told_as_it_is(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def fail(path):
        assert path.name == pipe.name  # a copy, which is sent through when it is whole
        raise ValueError(f"{path}: 0.5 of it fits. Nothing was written.")

    with pytest.raises(CommandError) as caught:
        write_all({pipe: fail})
    assert str(caught.value) == f"{pipe}: 0.5 of it fits. Nothing was written."


def test_a_failure_names_the_file_that_was_asked_for(tmp_path):
    def fail(path):
        assert path.parent.parent == tmp_path
        raise ValueError(f"{path}: 0.5 of it fits. Nothing was written.")

    with pytest.raises(CommandError) as caught:
        write_all({tmp_path / "a.csv": fail})
    assert str(caught.value) == f"{tmp_path / 'a.csv'}: 0.5 of it fits. Nothing was written."
    assert list(tmp_path.iterdir()) == []
