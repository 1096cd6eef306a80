"""`tcbo run PROBLEM`: simulate a campaign; stop it with Ctrl-C, continue with --resume."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tcbo_pyomo.cli._given_table import PastFile
from tcbo_pyomo.cli._options import (
    Assignments,
    Preset,
    ProblemName,
    Seed,
    SettingsFile,
    feedback_kind,
    layers_of,
    refuse_dash,
)
from tcbo_pyomo.cli._output import FILES_ARE_THERE, recorded, warn
from tcbo_pyomo.cli._tables import new_table, print_table
from tcbo_pyomo.errors import BadInput

if TYPE_CHECKING:
    from rich.table import Table

    from tcbo_pyomo.campaign.simulation import CampaignResult, EpisodeSummary, Simulation
    from tcbo_pyomo.foundation.profiling import Timings
    from tcbo_pyomo.problem.protocol import ProblemProtocol
    from tcbo_pyomo.records.determining_parts import Parts

PANEL, POSITION = "Problems and simulations", 13


def run(
    problem: ProblemName,
    method: Annotated[str | None, typer.Option(help="mdp_bo, or another method.")] = None,
    feedback: Annotated[str | None, typer.Option(help="immediate, episodic or delayed.")] = None,
    delay: Annotated[int | None, typer.Option(min=0, help="Moves before a result arrives.")] = None,
    seed: Seed = 1,
    data: PastFile = None,
    episodes: Annotated[int | None, typer.Option(min=1, help="Number of episodes.")] = None,
    set_: Assignments = None,
    candidates: Annotated[
        str | None,
        typer.Option(help="Candidate rule, such as credible_band (finite plants) or annealed (continuous ones)."),
    ] = None,
    settings: SettingsFile = None,
    preset: Preset = None,
    output: Annotated[Path | None, typer.Option(metavar="DIR", help="Write the run to a folder.", callback=refuse_dash)] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a run in the folder.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Resume the interrupted run in DIR.")] = False,
    profile_: Annotated[bool, typer.Option("--profile", help="Show where the time went.")] = False,
) -> None:
    """Simulate a campaign and print its recommendation after each episode."""
    from tcbo_pyomo.explain.as_text import point_text
    from tcbo_pyomo.foundation.profiling import profile, section
    from tcbo_pyomo.foundation.settings_file import nested
    from tcbo_pyomo.foundation.wording import counted
    from tcbo_pyomo.planning.fall_backs import fall_backs
    from tcbo_pyomo.records.json_file import run_parts
    from tcbo_pyomo.records.run_folder import UNFINISHED, prepare_folder, write_run
    from tcbo_pyomo.surrogate.extremes import MAXIMISE

    options: dict[str, Any] = {"method": method, "episodes": episodes, "candidates.rule": candidates}
    options |= {"feedback.kind": feedback, "feedback.delay": delay}
    layers = layers_of(settings, set_, preset)
    layers += [nested(name.split("."), value) for name, value in options.items() if value is not None]
    with profile() if profile_ else nullcontext() as timings:
        with section("set-up"):
            simulation = _resumed(problem, output, layers, data) if resume else _new(problem, layers, seed, data)
        if output is not None:
            prepare_folder(output, force)
        parts = run_parts(simulation.campaign, problem)
        result = _run_with_progress(simulation, problem, output, parts)
    if output is not None:
        write_run(result, output, _draw)
        (output / UNFINISHED).unlink(missing_ok=True)
    where = f"; files are in {output}" if output is not None else ""
    route = result.campaign.route
    moves = "" if route is None else f"; an episode gets there in {counted(len(route), 'move')}"
    plant = result.problem
    goal = "" if plant.goal == MAXIMISE else f" (goal: {plant.goal.in_words(plant.output, plant.output_unit)})"
    last = f"recommendation: {point_text(result.episodes[-1].recommendation, plant.coordinates)}{goal}{moves}{where}"
    fallen = fall_backs(step.plan for step in result.steps)
    if fallen.number:
        warn(str(fallen))
    with recorded(last, FILES_ARE_THERE) if output is not None else nullcontext():
        if timings is not None:
            _print_timings(timings)
        print_table(_episode_table(result.problem, result.episodes))
        certainty, history = result.campaign.certainty, result.campaign.history
        if certainty is not None:
            made = f"{history.moves_made} of {history.moves_of(result.problem.episodes)} moves made"
            typer.echo(f"{certainty.in_words(result.problem.output_unit)}; {made}")
        if (solver := result.campaign.method.planned_with()) is not None:
            typer.echo(f"planned with {solver}")
        typer.echo(last)


def _new(name: str, layers: list[dict[str, Any]], seed: int, data: Path | None) -> Simulation:
    from tcbo_pyomo.campaign.campaign import Campaign
    from tcbo_pyomo.campaign.simulation import Simulation
    from tcbo_pyomo.library import load_problem
    from tcbo_pyomo.settings import settings_from

    problem = load_problem(name, feedback_kind(layers), seed)
    return Simulation(Campaign(problem, settings_from(dict(problem.settings), *layers), seed, data))


def _resumed(name: str, output: Path | None, layers: list[dict[str, Any]], data: Path | None) -> Simulation:
    """The interrupted run; its seed and settings are those it was started with."""
    from tcbo_pyomo.records.json_file import resume_simulation
    from tcbo_pyomo.records.run_folder import UNFINISHED

    if output is None:
        raise BadInput("--resume needs --output DIR, the folder of the interrupted run")
    if layers or data is not None:
        raise BadInput("--resume takes the settings and past experiments of the interrupted run; leave out other options")
    return resume_simulation(output / UNFINISHED, name)


def _draw(result: CampaignResult, path: Path) -> None:
    """The paths of a run, as a figure in a file."""
    from tcbo_pyomo.report.figures.campaign_figure import campaign_figure
    from tcbo_pyomo.report.figures.canvas import figure_of

    figure_of(campaign_figure(result)).savefig(path, dpi=200)


def _run_with_progress(simulation: Simulation, name: str, output: Path | None, parts: Parts) -> CampaignResult:
    """The campaign, with a progress bar where someone can see it; Ctrl-C keeps what was done."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    problem = simulation.campaign.problem
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(
            problem.name, total=problem.horizon * problem.episodes, completed=len(simulation.steps)
        )

        def on_step(episode: int, _step: int) -> None:
            progress.update(task, advance=1, description=f"{problem.name}, episode {episode}")

        try:
            return simulation.run(on_step)
        except KeyboardInterrupt:
            progress.stop()
            kept = "" if output is None else _keep(simulation, name, output, parts)
            with recorded(kept, "continue with it") if kept else nullcontext():
                if simulation.episodes:
                    print_table(_episode_table(problem, simulation.episodes))
            if kept:
                typer.echo(kept, err=True)
            raise


def _keep(simulation: Simulation, name: str, output: Path, parts: Parts) -> str:
    """Write down how far the run came; what was kept, in words. Nothing is printed before it is on the disk."""
    from tcbo_pyomo.records.json_file import save_simulation
    from tcbo_pyomo.records.run_folder import UNFINISHED

    output.mkdir(parents=True, exist_ok=True)
    save_simulation(simulation, output / UNFINISHED, parts)
    return f"{len(simulation.steps)} moves are saved; continue with: tcbo run {name} --output {output} --resume"


def _episode_table(problem: ProblemProtocol, episodes: list[EpisodeSummary]) -> Table:
    """One row per episode: the recommendation in units, candidates left, regret as far as the best true value is known."""
    titles = [coordinate.title for coordinate in problem.coordinates]
    judged = ["regret", *(["identified"] if episodes[-1].identified is not None else [])]
    left = "candidates left" if problem.keeps_candidates else "candidates"
    table = new_table(right=("episode", *titles, left, *judged))
    for summary in episodes:
        cells = [str(summary.episode), *(f"{value:g}" for value in summary.recommendation.values())]
        cells.append(str(summary.candidates))
        regret = "unknown" if summary.regret is None else f"{summary.regret:.4g}"
        cells += [regret, "yes" if summary.identified else "no"][: len(judged)]
        table.add_row(*cells)
    return table


def _print_timings(timings: Timings) -> None:
    """The tree of sections, and how much of a step is neither linear algebra nor a solver."""
    table = new_table("section", right=("seconds", "own time", "share", "calls"))
    for row in timings.rows():
        numbers = f"{row.seconds:.3f}", f"{row.own_seconds:.3f}", f"{row.share:.1%}", str(row.calls)
        table.add_row("  " * row.depth + row.name, *numbers)
    share = timings.overhead / timings.total if timings.total > 0.0 else 0.0
    table.add_row("overhead: neither algebra nor solver", f"{timings.overhead:.3f}", "", f"{share:.1%}", "")
    print_table(table)
    if timings.overhead_of_a_step is not None:
        typer.echo(f"the planner's own overhead is {timings.overhead_of_a_step:.1%} of a step")
