from discreet.releases._publish import publish
from discreet.releases._publish_plan import publish_plan
from discreet.releases._simulate import simulate
from discreet.releases.release import Release

__all__ = ["Release", "publish", "publish_plan", "simulate"]
