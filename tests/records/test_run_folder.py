"""The run folder: complete, repeatable, never half-written, never overwritten by accident."""

import csv
import json
import os

import pytest

from tcbo_pyomo import __version__
from tcbo_pyomo.errors import BadInput, DiskError
from tcbo_pyomo.records.run_folder import RUN_FILES, prepare_folder, write_run
from tcbo_pyomo.settings import settings_from


def draw(result, path):
    """The command draws; here anything that looks like a picture."""
    path.write_bytes(b"\x89PNG of " + result.problem.name.encode())


def test_files_hold_the_campaign(knorr_result, tmp_path):
    write_run(knorr_result, tmp_path / "deep" / "run", draw)
    folder = tmp_path / "deep" / "run"
    assert sorted(path.name for path in folder.iterdir()) == sorted(RUN_FILES)
    head, *rows = csv.reader((folder / "experiments.csv").read_text().splitlines())
    assert head == ["episode", "step", "residence_time", "ratio", "y"]
    assert [[float(cell) for cell in row] for row in rows] == knorr_result.experiments.to_numpy().tolist()
    data = json.loads((folder / "result.json").read_text())
    heading = ["problem", "method", "seed", "goal", "version", "settings"]
    assert list(data) == [*heading, "how_to_get_there", "belief", "criticism", "episodes", "steps"]
    assert (data["problem"], data["method"], data["seed"]) == ("knorr_pyrazole", "mdp_bo", 1)
    assert data["version"] == __version__
    assert settings_from(data["settings"]) == knorr_result.settings
    assert len(data["episodes"]) == 10
    assert list(data["episodes"][0]) == ["episode", "recommendation", "regret", "identified", "candidates"]
    assert data["episodes"][0]["regret"] == knorr_result.episodes[0].regret
    assert (folder / "paths.png").read_bytes().startswith(b"\x89PNG")


def test_the_same_result_gives_the_same_bytes(knorr_result, tmp_path):
    for name in ("a", "b"):
        write_run(knorr_result, tmp_path / name, draw)
    for name in ("experiments.csv", "result.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_a_folder_with_a_run_is_refused_unless_forced(knorr_result, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    prepare_folder(tmp_path)
    write_run(knorr_result, tmp_path, draw)
    with pytest.raises(BadInput, match=r"holds a run .*--force"):
        prepare_folder(tmp_path)
    prepare_folder(tmp_path, force=True)
    write_run(knorr_result, tmp_path, draw)
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_preparing_writes_nothing(tmp_path):
    prepare_folder(tmp_path / "new" / "folder")
    assert not list(tmp_path.iterdir())


def test_a_file_is_not_a_folder(tmp_path):
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(BadInput, match="is a file"):
            prepare_folder(place)


def test_no_permission(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(DiskError, match="no permission"):
        prepare_folder(tmp_path / "run")
    with pytest.raises(DiskError, match="too long"):
        prepare_folder(tmp_path / ("x" * 5000))


def test_a_full_disk_leaves_the_old_run_and_no_litter(knorr_result, tmp_path, monkeypatch):
    write_run(knorr_result, tmp_path, draw)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def full(*_args, **_kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DiskError, match="No space left on device; the run was not written"):
        write_run(knorr_result, tmp_path, draw)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_an_interrupted_replacement_does_not_look_like_a_run(knorr_result, tmp_path, monkeypatch):
    write_run(knorr_result, tmp_path, draw)
    replace = os.replace

    def stop_at_the_figure(source, target):
        if os.fspath(target).endswith(".png"):
            raise OSError(5, "Input/output error")
        replace(source, target)

    monkeypatch.setattr(os, "replace", stop_at_the_figure)
    with pytest.raises(DiskError):
        write_run(knorr_result, tmp_path, draw)
    assert not (tmp_path / "result.json").exists()


def test_a_figure_of_another_run_does_not_stay(knorr_result, tmp_path):
    write_run(knorr_result, tmp_path, draw)
    write_run(knorr_result, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["experiments.csv", "result.json"]
