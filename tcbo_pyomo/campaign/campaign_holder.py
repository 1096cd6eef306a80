"""What can be read off a campaign, for whatever holds one: the result of a simulation, or a campaign on a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tcbo_pyomo.campaign.campaign import Campaign
    from tcbo_pyomo.problem.protocol import ProblemProtocol
    from tcbo_pyomo.settings import Settings


class CampaignHolder:
    """Something with a `campaign`."""

    campaign: Campaign

    @property
    def problem(self) -> ProblemProtocol:
        """The problem, as the settings changed it."""
        return self.campaign.problem

    @property
    def settings(self) -> Settings:
        """The settings of the campaign."""
        return self.campaign.settings

    @property
    def seed(self) -> int:
        """The seed of the campaign."""
        return self.campaign.seed
