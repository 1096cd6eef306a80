"""What the rivals on continuous plants have in common: a steering wheel, and its state to save."""

from __future__ import annotations

from tcbo_pyomo.planning.continuous.steering import Steering


class Steered:
    """A method that names a point and leaves the way to it to `Steering`; it has none on a finite process."""

    steering: Steering | None = None

    def state(self) -> list[float] | None:
        """What has to be saved beside the history, if anything."""
        return None if self.steering is None else self.steering.state()

    def load(self, state: list[float] | None) -> None:
        """Take over what `state` returned."""
        if self.steering is not None:
            self.steering.load(state)
