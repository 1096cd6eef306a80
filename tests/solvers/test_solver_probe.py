"""The probe really solves, says why not, and never raises."""

from __future__ import annotations

import time

from tcbo_pyomo.solvers import probes as probe
from tcbo_pyomo.solvers.catalogue import LINEAR_SOLVERS
from tcbo_pyomo.solvers.probes import Probe, probe_solvers


def test_what_is_installed_works_and_nothing_is_printed(capfd, caplog):
    started = time.process_time()
    results = {result.name: result for result in probe_solvers()}
    assert time.process_time() - started < 10
    assert set(LINEAR_SOLVERS) <= set(results)
    assert results["highs"].works and results["highs"].detail[0].isdigit()
    assert results["appsi_highs"].works
    assert results["dynamic_programming"].works and results["dynamic_programming"].detail == "built in"
    for result in results.values():
        assert result.role and result.detail and result.how_to_get and "\n" not in result.detail
    output = capfd.readouterr()
    assert output.out == "" and output.err == ""
    assert not [record for record in caplog.records if record.levelname in ("WARNING", "ERROR")]


def test_a_solver_that_fails_gives_the_reason(monkeypatch):
    def crash() -> str:
        print("noise")
        raise OSError("no\nlicence")

    monkeypatch.setattr(probe, "PROBES", (Probe("mine", "nonlinear", "ask the vendor", crash),))
    (result,) = probe_solvers()
    assert (result.name, result.role, result.works, result.detail) == ("mine", "nonlinear", False, "no licence")
    assert result.how_to_get == "ask the vendor"
