"""A request to end during a solve is noted, and acted upon afterwards."""

import signal

import pytest

from tcbo_pyomo.foundation.signals import ended_like_ctrl_c
from tcbo_pyomo.solvers.interrupts import NotedInterrupt


@pytest.fixture(autouse=True)
def ordinary_signals():
    before = {name: signal.getsignal(name) for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, signal.SIG_DFL)
    yield
    for name, handler in before.items():
        signal.signal(name, handler)


@pytest.mark.parametrize("request_", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_request_is_noted_inside_and_raised_at_the_end(request_):
    reached = []
    with pytest.raises(KeyboardInterrupt), ended_like_ctrl_c(), NotedInterrupt() as interrupt:
        assert not interrupt.requested
        signal.raise_signal(request_)
        signal.raise_signal(request_)
        reached.append(interrupt.requested)
    assert reached == [True]
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_what_others_handle_or_ignore_stays_theirs():
    seen = []
    signal.signal(signal.SIGTERM, lambda *_: seen.append("theirs"))
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with ended_like_ctrl_c(), NotedInterrupt() as interrupt:
        signal.raise_signal(signal.SIGHUP)
        assert not interrupt.requested and not seen
        signal.raise_signal(signal.SIGTERM)
        assert interrupt.requested and not seen
    assert seen == ["theirs"]
