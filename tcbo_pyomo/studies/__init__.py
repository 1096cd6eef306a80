"""Studies: problems x methods x feedback x settings x seeds, repeated on one machine or on a Dask cluster.

`read_study` reads a study file, `run_study` makes what is still missing of it and returns the tables.
"""

from tcbo_pyomo.studies.conduct import run_study
from tcbo_pyomo.studies.study import Study, read_study

__all__ = ["Study", "read_study", "run_study"]
