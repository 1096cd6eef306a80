"""Problems that come with the package, one per file; the file name is the name on the command line.

A problem file has a function `build(feedback=None, seed=0)` that returns a `Problem` or a
`ContinuousProblem`. A user's own problem is such a file anywhere on disk; it is run only because the user named it.
"""

from __future__ import annotations

import importlib.util
import inspect
import os
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import get_args

from tcbo_pyomo.errors import BadInput, TcboError, suggestion
from tcbo_pyomo.foundation.registry import files_of, find_beside_user
from tcbo_pyomo.foundation.user_code import require_trust
from tcbo_pyomo.foundation.user_lines import defined_at
from tcbo_pyomo.foundation.user_sources import noted_imports
from tcbo_pyomo.problem.continuous import ContinuousProblem
from tcbo_pyomo.problem.finite import Problem
from tcbo_pyomo.problem.kernel_trial import try_kernel
from tcbo_pyomo.problem.protocol import ProblemProtocol
from tcbo_pyomo.settings import FeedbackSettings


def problem_names() -> list[str]:
    """Names of the problems that come with the package."""
    return files_of(__name__)


def load_problem(name: str, feedback: str | None = None, seed: int = 0) -> ProblemProtocol:
    """A shipped problem by name, or the problem of a user's own Python file.

    Parameters
    ----------
    name
        A name from `problem_names()`, or a path that ends in ".py".
    feedback
        The kind of feedback the campaign will use. Default: the problem's own preference.
    seed
        Random seed, for problems that are drawn at random.
    """
    kinds = get_args(FeedbackSettings.model_fields["kind"].annotation)
    if feedback is not None and feedback not in kinds:
        raise BadInput(f"unknown feedback '{feedback}'; {suggestion(feedback, kinds)}")
    if name.endswith(".py"):
        with noted_imports(name):
            return _build_from_file(Path(name), feedback, seed)
    if name not in problem_names():
        own = "; your own problem: the path of its .py file"
        raise BadInput(f"unknown problem '{name}'; {suggestion(name, problem_names())}{own}")
    problem: ProblemProtocol = importlib.import_module(f"{__name__}.{name}").build(feedback=feedback, seed=seed)
    return problem


def _build_from_file(path: Path, feedback: str | None, seed: int) -> ProblemProtocol:
    """Run a user's file and its `build`; whatever goes wrong there is shown with the user's own line."""
    require_trust(f"problem file '{path}'")
    if not path.is_file():
        raise BadInput(f"problem file '{path}' does not exist or is not a file")
    try:
        module = _imported(path)
        build = getattr(module, "build", None)
        if not callable(build):
            raise BadInput("it must define a function build(feedback=None, seed=0) that returns a Problem")
        try:
            inspect.signature(build).bind(feedback=feedback, seed=seed)
        except TypeError as error:
            raise BadInput(f"it must define build(feedback=None, seed=0): {error}") from None
        problem = build(feedback=feedback, seed=seed)
        if not isinstance(problem, (Problem, ContinuousProblem)):
            kind = type(problem).__name__
            raise BadInput(
                f"build returned a {kind}; it must return a Problem or a ContinuousProblem ({defined_at(build)})"
            )
        try_kernel(problem)
    except TcboError as error:
        raise type(error)(f"problem file '{path}'{_line_in(path, error)}: {error}") from error
    except (Exception, SystemExit) as error:
        raise BadInput(f"problem file '{path}'{_line_in(path, error)}: {_first_line(error)}") from error
    return problem


def _imported(path: Path) -> ModuleType:
    """The module of a user's file. What stands beside it or in the current folder can be imported but hides nothing."""
    find_beside_user()
    folder = os.fspath(path.resolve().parent)
    if folder not in sys.path:
        sys.path.append(folder)
    specification = importlib.util.spec_from_file_location(f"tcbo_user_problem_{path.stem}", path)
    if specification is None or specification.loader is None:
        raise BadInput("it cannot be loaded as a Python file")
    module = importlib.util.module_from_spec(specification)
    sys.modules[specification.name] = module  # dataclasses in the user's file look themselves up here
    specification.loader.exec_module(module)
    return module


def _line_in(path: Path, error: BaseException) -> str:
    """', line N': the deepest line of the user's file that the error passed through."""
    if isinstance(error, SyntaxError) and error.lineno:
        return f", line {error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame.lineno for frame in frames if Path(frame.filename).resolve() == path.resolve()]
    return f", line {own[-1]}" if own else ""


def _first_line(error: BaseException) -> str:
    message = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"{type(error).__name__}: {(message.strip() or 'no message').splitlines()[0]}"
