"""Everything on disk. `start_campaign` makes a campaign file; `open_campaign` opens whatever a campaign was kept in.

=================  ===========================  ====================================================================
kept in            made by                      what it is for
=================  ===========================  ====================================================================
CAMPAIGN.db        `start_campaign`,            a real campaign of days: every ask and tell is a row that is on the
                   `tcbo start`                 disk when the call returns; several processes may share it
saved .json        `save_campaign`              a snapshot of a campaign in memory, to continue elsewhere; its problem
                                                has to be given again
unfinished.json    `tcbo run`, interrupted      a simulation after its last complete move; `tcbo run --resume`
                                                (`resume_simulation`) resumes it
run folder         `tcbo run --output`          a finished simulation: experiments.csv, result.json, paths.png; read
                                                back by making its moves again
study folder       `tcbo study`                 many simulations: a file per finished run, and the tables (see
                                                `studies/`); `tcbo study` resumes it
=================  ===========================  ====================================================================

`open_campaign` gives a `DurableCampaign` for the first, a `Campaign` for the next three; both have the same interface.
"""

from tcbo_pyomo.records.durable_campaign import DurableCampaign
from tcbo_pyomo.records.opening import in_memory, open_campaign, start_campaign
from tcbo_pyomo.records.results import Receipt, Result

__all__ = ["DurableCampaign", "Receipt", "Result", "in_memory", "open_campaign", "start_campaign"]
