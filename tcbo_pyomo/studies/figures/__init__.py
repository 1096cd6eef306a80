"""Figures of a study, one per file: functions that take its tables and return the axes, or the figure where it has panels."""

from tcbo_pyomo.studies.figures.ablation import ablation_figure
from tcbo_pyomo.studies.figures.candidates import candidates_figure
from tcbo_pyomo.studies.figures.identification import identification_figure
from tcbo_pyomo.studies.figures.labels import label
from tcbo_pyomo.studies.figures.paths import paths_figure
from tcbo_pyomo.studies.figures.regret import regret_figure
from tcbo_pyomo.studies.figures.solve_times import solve_time_figure, solve_time_table
from tcbo_pyomo.studies.figures.traces import traces_figure
from tcbo_pyomo.studies.figures.writing import write_figures

__all__ = [
    "ablation_figure",
    "candidates_figure",
    "identification_figure",
    "label",
    "paths_figure",
    "regret_figure",
    "solve_time_figure",
    "solve_time_table",
    "traces_figure",
    "write_figures",
]
