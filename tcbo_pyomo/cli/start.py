"""`tcbo start CAMPAIGN.db PROBLEM`: a campaign on a real plant begins."""

from __future__ import annotations

from tcbo_pyomo.cli._campaign_file import CampaignFile
from tcbo_pyomo.cli._given_table import PastFile, doubt_rows, notes_of
from tcbo_pyomo.cli._options import Assignments, Preset, ProblemName, Seed, SettingsFile, layers_of, refuse_dash
from tcbo_pyomo.cli._output import say

PANEL, POSITION = "A campaign on a real plant", 20


def start(
    campaign: CampaignFile,
    problem: ProblemName,
    settings: SettingsFile = None,
    preset: Preset = None,
    set_: Assignments = None,
    seed: Seed = 1,
    data: PastFile = None,
) -> None:
    """Start a campaign on a real plant; create its file."""
    from tcbo_pyomo.library import load_problem
    from tcbo_pyomo.records import start_campaign
    from tcbo_pyomo.settings import settings_from

    refuse_dash(campaign)
    chosen = settings_from(dict(load_problem(problem, None, seed).settings), *layers_of(settings, set_, preset))
    started = start_campaign(campaign, problem, chosen, seed, data)
    moves = started.problem.episodes * started.problem.horizon
    taught = ""
    if data is not None:
        added = started.added_before(1)
        doubt_rows(started, added)
        taught = f" and {started.past.in_words()}{notes_of(added)}"
    say(f"started {campaign}: {started.problem.name}, {moves} moves{taught}; next: tcbo ask {campaign}")
