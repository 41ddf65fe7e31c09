from discreet.server._client import Client
from discreet.server._people import People
from discreet.server._publisher import Publisher
from discreet.server._schema import Queue
from discreet.server._start import Pair, ServerAddress, default_queue, make_folder
from discreet.server._start import run_front as run_front

__all__ = ["Client", "Pair", "People", "Publisher", "Queue", "ServerAddress", "default_queue", "make_folder"]
