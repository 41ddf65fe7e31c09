"""What leaves: `publish` is the one door, a `Release` is what went through it."""

from discreet.releases.publish import publish
from discreet.releases.publish_plan import publish_plan
from discreet.releases.release import Release
from discreet.releases.simulate import simulate

__all__ = ["Release", "publish", "publish_plan", "simulate"]
