"""Campaigns that last: one campaign is one SQLite file, in which every ask and every tell is kept.

`start_campaign` makes the file, `open_campaign` goes on with it; both give a `DurableCampaign`.
"""

from tcbo_pyomo.records.durable_campaign import DurableCampaign
from tcbo_pyomo.records.opening import open_campaign, start_campaign
from tcbo_pyomo.records.results import Receipt, Result

__all__ = ["DurableCampaign", "Receipt", "Result", "open_campaign", "start_campaign"]
