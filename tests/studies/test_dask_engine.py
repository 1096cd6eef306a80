"""Studies on Dask: the same numbers, whatever happens to workers, results on their way, or the cluster."""

import os
import signal
import warnings
from types import SimpleNamespace

import pytest
from tiny_study import contents
from waiting import PATIENCE, until

from tcbo_pyomo.errors import BadInput, NoWorkers
from tcbo_pyomo.studies import run_study

SLOWLY = "2"
"""Seconds of a run in the middle of which something happens to its worker: a busy machine takes its time for that."""


def test_dask_gives_the_same_bytes_and_loses_nothing_when_a_worker_is_killed(study, undisturbed, tmp_path, monkeypatch):
    from tcbo_pyomo.studies import dask_engine

    monkeypatch.setenv("TINY_SECONDS", "0.3")
    folder, killed = tmp_path / "out", []
    original = dask_engine.by_client

    def with_a_murder(client, runs, patience):
        for number, record in enumerate(original(client, runs, patience)):
            if number == 2 and not killed:
                victim = next(iter(client.run(os.getpid).values()))
                os.kill(victim, signal.SIGKILL)
                killed.append(victim)
            yield record

    monkeypatch.setattr(dask_engine, "by_client", with_a_murder)
    tables = run_study(study, folder, workers=2, engine="dask")
    assert killed
    assert tables.failures.empty
    assert contents(folder) == undisturbed


def test_dask_on_an_existing_cluster_bound_to_loopback(study, undisturbed, tmp_path):
    from distributed import LocalCluster

    with LocalCluster(n_workers=1, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as cluster:
        run_study(study, tmp_path / "out", engine="dask", address=cluster.scheduler_address)
    assert contents(tmp_path / "out") == undisturbed


def test_two_local_clusters_want_no_common_port_and_listen_on_this_machine_only():
    import psutil

    from tcbo_pyomo.studies.dask_engine import _local_cluster

    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        with _local_cluster(1), _local_cluster(1):
            sockets = psutil.Process().net_connections(kind="inet")
            listening = {one.laddr.ip for one in sockets if one.status == psutil.CONN_LISTEN}
    assert listening == {"127.0.0.1"}


def test_a_run_that_kills_every_dask_worker_is_given_up(study, tmp_path, monkeypatch):
    monkeypatch.setenv("TINY_KILLS", "2")
    one = study.model_copy(update={"methods": study.methods[:1], "feedback": study.feedback[:1]})
    tables = run_study(one, tmp_path / "out", workers=2, engine="dask")
    assert tables.failures["seed"].tolist() == [2]
    assert "died" in tables.failures["error"][0]
    assert sorted(tables.runs["seed"].unique()) == [1, 3, 4]


def test_a_run_that_waits_at_a_dying_dask_worker_is_not_blamed(study, tmp_path, monkeypatch):
    import dask
    from distributed import Client
    from distributed.scheduler import Scheduler

    # The one worker holds all runs and begins with the guilty one; at its first death Dask gives up all that it held.
    strict = {"distributed.scheduler.allowed-failures": 0, "distributed.scheduler.worker-saturation": "inf"}
    monkeypatch.setenv("TINY_KILLS", "2")
    monkeypatch.setenv("TINY_SECONDS", SLOWLY)
    submit, transition, given_up = Client.submit, Scheduler.transition, set()

    def guilty_first(self, function, run, **options):
        return submit(self, function, run, priority=int(run.seed == 2), **options)

    def noted(self, key, finish, *args, **options):
        if finish == "erred":
            given_up.add(key)
        return transition(self, key, finish, *args, **options)

    monkeypatch.setattr(Client, "submit", guilty_first)
    monkeypatch.setattr(Scheduler, "transition", noted)
    one = study.model_copy(update={"methods": study.methods[:1], "feedback": study.feedback[:1]})
    with dask.config.set(strict):
        tables = run_study(one, tmp_path / "out", workers=1, engine="dask")
    assert len(given_up) > 2, f"Dask blamed no innocent run: {given_up}"
    assert tables.failures["seed"].tolist() == [2]
    assert sorted(tables.runs["seed"].unique()) == [1, 3, 4]


def test_a_dask_worker_that_dies_with_results_nobody_has_fetched_costs_nothing(
    study, undisturbed, tmp_path, monkeypatch
):
    import distributed

    lost = []

    class TooLate(distributed.as_completed):
        def next_batch(self, block=True):
            batch = super().next_batch(block)
            if batch and not lost:
                lost.append(batch[0].key)
                os.kill(next(iter(batch[0].client.run(os.getpid).values())), signal.SIGKILL)
                until(lambda: batch[0].status != "finished", PATIENCE)
            return batch

    monkeypatch.setenv("TINY_SECONDS", "0.2")
    monkeypatch.setattr(distributed, "as_completed", TooLate)
    tables = run_study(study, tmp_path / "out", workers=1, engine="dask")
    assert lost and tables.failures.empty
    assert contents(tmp_path / "out") == undisturbed


def test_a_dask_cluster_that_goes_away_costs_what_was_not_made_yet(study, undisturbed, tmp_path, monkeypatch):
    from distributed import LocalCluster

    monkeypatch.setenv("TINY_SECONDS", SLOWLY)
    folder = tmp_path / "out"
    cluster = LocalCluster(n_workers=1, threads_per_worker=1, host="127.0.0.1", dashboard_address=None)
    gone = []

    def close(progress):
        if progress.done == 2 and not gone:
            gone.append(progress)
            cluster.close()

    tables = run_study(study, folder, engine="dask", address=cluster.scheduler_address, on_progress=close)
    assert gone and 0 < len(tables.failures) <= 14
    assert tables.failures["error"].str.startswith("Dask lost the run").all()
    assert not tables.failures["error"].str.contains("\n").any()
    monkeypatch.delenv("TINY_SECONDS")
    run_study(study, folder, workers=1)
    assert contents(folder) == undisturbed


def test_an_unreachable_scheduler_is_said_before_anything_is_written(study, tmp_path, monkeypatch):
    monkeypatch.setattr("tcbo_pyomo.studies.dask_engine.SECONDS_TO_ANSWER", 1)
    for address in ("tcp://127.0.0.1:1", "nonsense://x"):
        with pytest.raises(BadInput, match="no Dask scheduler answers at '" + address):
            run_study(study, tmp_path / "out", engine="dask", address=address)
    assert not (tmp_path / "out").exists()


def test_a_cluster_without_workers_or_with_another_version_is_refused(study, tmp_path, monkeypatch):
    from distributed import LocalCluster

    options = {"threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": None}
    with LocalCluster(n_workers=0, **options) as cluster, pytest.raises(BadInput, match="has no workers"):
        run_study(study, tmp_path / "out", engine="dask", address=cluster.scheduler_address)
    monkeypatch.setattr("tcbo_pyomo.studies.dask_engine.__version__", "99")
    with (
        LocalCluster(n_workers=1, **options) as cluster,
        pytest.raises(BadInput, match=r"has tcbo_pyomo .*, this is 99"),
    ):
        run_study(study, tmp_path / "out", engine="dask", address=cluster.scheduler_address)


def test_without_a_living_worker_a_study_stops_keeps_what_it_has_and_goes_on_later(
    study, undisturbed, tmp_path, monkeypatch
):
    from distributed import LocalCluster

    monkeypatch.setenv("TINY_SECONDS", SLOWLY)
    folder = tmp_path / "out"
    with LocalCluster(n_workers=1, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as cluster:

        def lose_all(progress):
            if progress.done == 2:
                cluster.scale(0)

        options = {"engine": "dask", "address": cluster.scheduler_address, "patience": 1.0}
        with pytest.raises(
            NoWorkers, match=r"no Dask worker has been alive for 1 s; 1\d runs are left"
        ) as stop:
            run_study(study, folder, on_progress=lose_all, **options)
        assert stop.value.exit_code == 1
        made = len(list((folder / "runs").iterdir()))
        assert 2 <= made < 16 and len(list((folder / "failures").iterdir())) == 0
        monkeypatch.delenv("TINY_SECONDS")
        cluster.scale(1)
        cluster.wait_for_workers(1, timeout=PATIENCE)
        seen = []
        run_study(study, folder, on_progress=seen.append, **{**options, "patience": 60.0})
    assert seen[0].done == made and contents(folder) == undisturbed


@pytest.mark.parametrize("held_up", [0.0, 30.0])
def test_only_time_without_a_worker_is_counted(held_up, monkeypatch):
    """On a busy machine this process may stand still between two looks, or between two lines of one."""
    from tcbo_pyomo.studies import dask_workers

    clock, workers = [0.0], {"a": {}}

    def now():
        clock[0] += held_up
        return clock[0]

    monkeypatch.setattr(dask_workers, "time", SimpleNamespace(monotonic=now))
    client = SimpleNamespace(scheduler_info=lambda: {"workers": workers})
    monkeypatch.setattr(dask_workers, "within", lambda seconds, call: call())
    watch = dask_workers.WorkerWatch(client, 40.0, 1.0)
    for _ in range(3):
        clock[0] += 1000.0
        watch.look(5)
    workers.clear()
    clock[0] += 1000.0
    watch.look(5)
    clock[0] += 41.0
    with pytest.raises(NoWorkers, match="5 runs are left"):
        watch.look(5)


def test_a_local_cluster_that_has_lost_all_workers_is_replaced(study, undisturbed, tmp_path, monkeypatch):
    import distributed

    clusters = []

    class Noted(distributed.LocalCluster):
        def __init__(self, *arguments, **named):
            super().__init__(*arguments, **named)
            clusters.append(self)

    monkeypatch.setattr(distributed, "LocalCluster", Noted)
    monkeypatch.setenv("TINY_SECONDS", SLOWLY)

    def lose_all(progress):
        if progress.done == 2:
            monkeypatch.delenv("TINY_SECONDS")
            clusters[0].scale(0)

    run_study(study, tmp_path / "out", workers=1, engine="dask", patience=1.0, on_progress=lose_all)
    assert len(clusters) == 2 and contents(tmp_path / "out") == undisturbed


def test_a_scheduler_that_does_not_answer_counts_as_no_worker(monkeypatch):
    import threading

    from tcbo_pyomo.studies import dask_workers

    class Silent:
        def scheduler_info(self):
            threading.Event().wait(60)

    monkeypatch.setattr(dask_workers, "SECONDS_BETWEEN_QUESTIONS", 0.0)
    watch = dask_workers.WorkerWatch(Silent(), patience=0.05, answer=0.1)
    with pytest.raises(NoWorkers):
        watch.look(3)


@pytest.mark.parametrize("patience", [0.0, -1.0, float("nan"), float("inf")])
def test_a_patience_that_is_none_or_endless_is_refused(study, tmp_path, patience):
    with pytest.raises(BadInput, match="must be a positive number of seconds"):
        run_study(study, tmp_path / "out", engine="dask", patience=patience)
