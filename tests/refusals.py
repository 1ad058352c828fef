"""How tables of refusals are tried: a call, and what it answers word by word."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from kinelo.errors import InputError


def check_refusal(case: tuple[Callable[[], Any], str], kind: type[Exception] = InputError) -> None:
    """The call is refused in this sentence, which is a pattern where it holds a backslash."""
    call, sentence = case
    with pytest.raises(kind) as refused:
        call()
    pattern = sentence if "\\" in sentence else re.escape(sentence)
    assert re.fullmatch(pattern, str(refused.value)), str(refused.value)
