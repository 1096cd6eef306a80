"""The report page: its sections, escaping, isolation from the network, and a look by a real browser."""

import base64
import hashlib
import re
import shutil
import subprocess
from html.parser import HTMLParser
from itertools import pairwise
from urllib.parse import urlsplit
from xml.etree import ElementTree

import numpy as np
import pytest
from typer.testing import CliRunner

from tcbo_pyomo import Campaign, Problem, Process, load_problem, run_campaign, save_campaign, settings_from
from tcbo_pyomo.campaign.simulated_plant import SimulatedPlant
from tcbo_pyomo.cli.main import app
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.coordinates import Coordinate
from tcbo_pyomo.foundation.wording import uncertain, visible
from tcbo_pyomo.models.constraints import EndAt, MaximumStep, ResourceBudget
from tcbo_pyomo.records.run_folder import write_run
from tcbo_pyomo.report.page import render_report, write_report
from tcbo_pyomo.report.page_content import page_content
from tcbo_pyomo.report.timeline import timeline
from tcbo_pyomo.surrogate.kernels.squared_exponential import SquaredExponential

HOSTILE = (
    "<script>alert(1)</script> \"quoted\" 'single' & </style></title> $x_{1$ {{ 99*1001 }} \u202eturned \x00\x07 \ud800"
)
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def partial(problem, moves, told=None, ask=True, seed=1):
    """A simulated campaign stopped after some moves, of which the first `told` have results."""
    campaign = Campaign(problem, settings_from(dict(problem.settings)), seed)
    plant = SimulatedPlant(campaign.problem, seed)
    for index in range(moves):
        move = campaign.ask()
        campaign.arrive(move.number, plant.make(move))
        if told is None or index < told:
            campaign.tell(move.number, plant.measure(move))
    if ask:
        campaign.ask()
    return campaign


class Reader(HTMLParser):
    """Elements, attributes and visible text, by Python's own parser."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.words, self._inside = [], [], []
        self.feed(page)
        self.text = " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self._inside.append(tag)

    def handle_endtag(self, tag):
        while self._inside and self._inside.pop() != tag:
            pass

    def handle_data(self, data):
        if not self._inside or self._inside[-1] != "style":
            self.words.append(data)


@pytest.fixture(scope="module")
def knorr():
    return partial(load_problem("knorr_pyrazole", "immediate"), 13, told=12)


@pytest.fixture(scope="module")
def knorr_page(knorr):
    return render_report(knorr)


def isolated(page):
    """Nothing in a page may leave it."""
    assert not re.search(r"https?://|@import|url\(", page.split("</style>")[1])
    assert "@import" not in page and "url(" not in page
    for tag, attributes in Reader(page).elements:
        assert tag not in ("script", "iframe", "object", "embed", "form", "base")
        for name, value in attributes.items():
            assert not name.startswith("on") and name not in ("style", "srcset", "action", "formaction")
            if name in ("src", "href", "xlink:href"):
                assert value.startswith(("data:", "#")), value
    for address in re.findall(r"""(?:src|href)\s*=\s*["']?([^"'\s>]{1,20})""", page):
        assert address.startswith(("data:", "#")), address


def test_the_page_says_where_the_campaign_stands(knorr, knorr_page):
    text = Reader(knorr_page).text
    headings = "Recommendation", "State of the campaign", "Next move", "Paths", "Progress", "Constraints"
    for heading in (*headings, "How to reproduce it"):
        assert heading in text
    assert "episode 2 of 10 step 3 of 10" in text
    assert "13 of 100 moves made, 12 results, 1 outstanding." in text
    assert f"Move {knorr.history.open_move.number}, step 4 of this episode." in text
    assert "Moves after the next one, as last planned" in text
    assert "Every executed move was checked; none broke a declared constraint." in text
    assert "highs (1)" in text and "seed 1" in text and "components: 1" in text
    expected = knorr.knowledge.belief.mean[knorr.recommendation]
    assert float(re.search(r"product (\S+) ±", text).group(1)) == pytest.approx(expected, rel=1e-3)


def test_every_picture_has_a_text_and_the_page_an_order(knorr_page):
    elements = Reader(knorr_page).elements
    pictures = [attributes for tag, attributes in elements if tag == "img"]
    assert len(pictures) == 7 and all(len(picture["alt"]) > 20 for picture in pictures)
    assert [tag for tag, _ in elements].count("h1") == 1
    assert ("html", {"lang": "en"}) in elements
    assert all("scope" in attributes for tag, attributes in elements if tag == "th")


def test_the_policy_allows_nothing_but_this_style_and_inline_pictures(knorr_page):
    isolated(knorr_page)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', knorr_page).group(1).replace("&#39;", "'")
    style = re.search(r"<style>(.*)</style>", knorr_page, re.DOTALL).group(1)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy.startswith("default-src 'none'; img-src data:;") and "unsafe" not in policy
    assert f"style-src 'sha256-{digest}'" in policy.replace("&#43;", "+")


def test_the_same_campaign_gives_the_same_page(knorr, knorr_page):
    before = knorr.state()
    assert render_report(knorr) == knorr_page
    assert knorr.state() == before


def test_removals_are_those_of_a_replay(knorr):
    moments = timeline(knorr)
    assert len(moments) == 13 and moments[-1].recommendation == knorr.recommendation
    assert moments[-1].candidates == len(knorr.candidates)
    for before, after in pairwise(moments):
        assert after.candidates == before.candidates - len(after.removed) + len(after.returned)


def test_replicates_count_one_by_one():
    campaign = partial(load_problem("knorr_pyrazole", "immediate"), 3, ask=False)
    campaign.tell(1, 0.5, replicate=True)
    moments = timeline(campaign)
    assert [moment.value for moment in moments[1:]] == [value for _, value in campaign.history.measurements]
    assert moments[-1].mean == pytest.approx(campaign.knowledge.belief.mean[campaign.recommendation], abs=1e-12)


@pytest.mark.parametrize(
    ("name", "moves", "ask"),
    [("knorr_pyrazole", 0, False), ("lake_ypacarai", 0, True), ("river", 3, True), ("thermal_reactor", 2, True)],
)
def test_any_moment_of_any_kind_of_campaign_has_a_page(name, moves, ask):
    page = render_report(partial(load_problem(name), moves, ask=ask))
    isolated(page)
    text = Reader(page).text
    assert ("No move is outstanding; ask for the next one." in text) == (not ask)
    assert ("this is the prior" in text) == (moves == 0)


def test_a_continuous_campaign_before_the_start_and_at_its_measured_start():
    problem = load_problem("branin2d")
    isolated(render_report(partial(problem, 0, ask=False)))
    assert "measure the start" in Reader(render_report(partial(problem, 0, ask=True))).text


def test_a_finished_campaign_and_a_broken_constraint():
    problem = load_problem("knorr_pyrazole").changed(episodes=1)
    campaign = partial(problem, 9, ask=False)
    campaign.tell(campaign.ask().number, 0.1, at={"residence_time": 40, "ratio": 1})
    text = Reader(render_report(campaign)).text
    assert "finished" in text and "all moves of the budget were made" in text
    assert "violations of declared constraints." in text and "changed by" in text


def hostile_problem(text, truth):
    """Every text a user may choose is hostile."""
    first, second = Coordinate(f"a{text}", 0.0, 2.0, f"u{text}"), Coordinate(f"b{text}", 0.0, 2.0)
    states = {f"s{i}{text}": (i, i) for i in range(3)}
    labels = list(states)
    moves = [(here, f"to {there}{text}", there) for here in labels for there in labels]
    process = Process.from_moves([first, second], states, moves, 0.01)
    rules = (
        MaximumStep({first.name: 1.0}),
        EndAt({second.name: 0.0}),
        ResourceBudget(f"fuel{text}", lambda left, right: abs(right[first.name] - left[first.name]), 5.0),
    )
    return Problem(
        f"n{text}", process, labels[0], 4, 2, SquaredExponential(1.0, 0.5), rules, truth=truth,
        output=f"o{text}", output_unit=f"v{text}", output_title=f"t{text}", description=f"d{text}",
    )  # fmt: skip


def hostile_campaign(text=HOSTILE):
    campaign = partial(hostile_problem(text, np.array([0.0, 1.0, 0.5])), 3)
    campaign.tell(campaign.ask().number, 0.3, at=2)
    return campaign


def test_hostile_labels_come_out_as_text():
    campaign = hostile_campaign()
    plan = {"solver": HOSTILE, "trajectories": [{"used": HOSTILE, "solves": [{"status": HOSTILE, "iterations": 1}]}]}
    page = render_report(campaign, [plan, None])
    isolated(page)
    assert (
        "<script" not in page and "</style></title>" not in page and "99099" not in re.sub(r"base64,[^\"]*", "", page)
    )
    assert not re.search("[\u202e\x00\x07\ud800]", page)
    page.encode("utf-8")
    reader = Reader(page)
    shown = " ".join(visible(HOSTILE).split())
    text = reader.text.replace("_", " ")
    for prefix in ("n", "a", "b", "d", "t", "u", "v", "fuel"):
        assert prefix + shown.replace("_", " ") in text, prefix
    assert f"{shown} (1)" in reader.text
    texts = [attributes["alt"] for tag, attributes in reader.elements if tag == "img"]
    assert any("<script>" in text for text in texts)
    drawings = re.findall(r"data:image/svg\+xml;base64,([^\"]*)", page)
    assert len(drawings) == 5 and all(ElementTree.fromstring(base64.b64decode(drawing)) for drawing in drawings)


def test_hidden_characters_are_written_out_and_others_kept():
    assert visible("a\u202eb\x00\u200b\ud800\n°Cµ≤日本") == "a\\u202eb\\u0000\\u200b\\ud800\n°Cµ≤日本"


@pytest.mark.parametrize(
    ("mean", "deviation", "text"),
    [
        (0.41234, 0.0123, "0.412 ± 0.012 g"),
        (1234.5, 56.0, "1234 ± 56 g"),
        (1.0, 0.0, "1 g"),
        (2.0, 3.0, "2.0 ± 3.0 g"),
        (-3e-4, 0.03, "0.000 ± 0.030 g"),
    ],
)
def test_values_have_the_digits_their_uncertainty_justifies(mean, deviation, text):
    assert uncertain(mean, deviation, "g") == text


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("page.txt", "must end in .html"),
        ("no/page.html", "does not exist"),
        ("there.html", "exists"),
        ("dir.html", "folder"),
    ],
)
def test_a_place_that_is_none_is_refused_and_left_alone(knorr, tmp_path, name, message):
    (tmp_path / "there.html").write_text("mine")
    (tmp_path / "dir.html").mkdir()
    with pytest.raises(BadInput, match=message):
        write_report(knorr, tmp_path / name)
    assert (tmp_path / "there.html").read_text() == "mine"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["dir.html", "there.html"]


@pytest.fixture
def command():
    return lambda *arguments: CliRunner().invoke(app, ["report", *map(str, arguments)])


def test_the_command_reads_a_saved_campaign_and_overwrites_only_by_force(command, knorr, tmp_path):
    saved, page = tmp_path / "campaign.json", tmp_path / "page.html"
    save_campaign(knorr, saved)
    arguments = (saved, "--problem", "knorr_pyrazole", "--output", page)
    first = command(*arguments)
    assert first.exit_code == 0 and "13 moves, 12 results of knorr_pyrazole" in first.output
    assert isinstance(command(*arguments).exception, BadInput)
    assert command(*arguments, "--force").exit_code == 0
    assert sorted(file.name for file in tmp_path.iterdir()) == ["campaign.json", "page.html"]


def test_the_command_reads_a_run_folder_and_a_campaign_file(command, tmp_path):
    problem = load_problem("knorr_pyrazole")
    write_run(run_campaign(problem, settings_from(dict(problem.settings), {"episodes": 1}), seed=2), tmp_path / "run")
    assert command(tmp_path / "run", "--output", tmp_path / "run.html").exit_code == 0
    text = Reader((tmp_path / "run.html").read_text()).text
    assert "10 of 10 moves made, 10 results" in text and "recorded plans 10" in text
    from tcbo_pyomo.records import start_campaign

    durable = start_campaign(tmp_path / "campaign.db", "knorr_pyrazole", seed=1)
    durable.tell(durable.ask().number, 0.1)
    before = (tmp_path / "campaign.db").read_bytes()
    assert command(tmp_path / "campaign.db", "--output", tmp_path / "db.html").exit_code == 0
    assert (tmp_path / "campaign.db").read_bytes() == before
    assert "1 of 100 moves made, 1 result" in Reader((tmp_path / "db.html").read_text()).text


OWN_HOSTS = (".google.com", ".googleapis.com", ".gvt1.com")
"""Where the browser itself looks for updates; no name resolves in these tests, so nothing is sent."""


def browsed(file, folder):
    """(elements and text, console messages, addresses asked for) of a page in headless Chromium."""
    log = folder / "net.json"
    flags = ["headless", "no-sandbox", "disable-gpu", "no-first-run", "disable-quic", "disable-sync"]
    flags += ["disable-background-networking", "disable-component-update", f"user-data-dir={folder / 'profile'}"]
    flags += ["host-resolver-rules=MAP * ~NOTFOUND", "enable-logging=stderr", "v=0", f"log-net-log={log}"]
    run = [CHROMIUM, *(f"--{flag}" for flag in flags), "--dump-dom", file.as_uri()]
    done = subprocess.run(run, capture_output=True, timeout=180, encoding="utf-8", errors="replace")
    assert done.returncode == 0, done.stderr[-2000:]
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    asked = set(re.findall(r'"url":"((?:https?|wss?|ftp):[^"]*)"', log.read_text(errors="replace")))
    return Reader(done.stdout), console, {a for a in asked if not (urlsplit(a).hostname or "").endswith(OWN_HOSTS)}


browser = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed: NO browser has looked at the report")


@browser
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["knorr", "hostile"])
def test_a_browser_shows_the_page_without_errors_or_requests(kind, knorr_page, tmp_path):
    file = tmp_path / "page.html"
    file.write_text(knorr_page if kind == "knorr" else render_report(hostile_campaign()), encoding="utf-8")
    page, console, asked = browsed(file, tmp_path)
    assert console == [] and asked == set()
    assert "How to reproduce it" in page.text and not any(tag == "script" for tag, _ in page.elements)


@browser
@pytest.mark.slow
def test_the_browser_would_notice_errors_and_requests(tmp_path):
    file = tmp_path / "bad.html"
    file.write_text("<img src='http://example.invalid/a.png'><script>console.error('noticed')</script>")
    _, console, asked = browsed(file, tmp_path)
    assert any("noticed" in line for line in console) and asked == {"http://example.invalid/a.png"}


def test_a_schedule_is_ahead_and_not_made():
    campaign = Campaign(load_problem("knorr_pyrazole"), seed=1)
    schedule = campaign.ask_episode()
    campaign.tell(1, 0.3)
    text = Reader(render_report(campaign)).text
    budget = campaign.problem.episodes * campaign.problem.horizon
    assert f"1 of {budget} moves made, 1 result, 0 outstanding" in text and len(schedule) > 2
    content = page_content(campaign)
    assert content["following"]["number"] == "2" and content["standing"]["step"].startswith("1 of")
    assert [row[0] for row in content["following"]["ahead"]] == [str(move.step) for move in schedule[2:]]
