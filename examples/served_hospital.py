"""The hospital of the demo, served on this machine: open the links as a steward and as an analyst.

Everything is made up. The folder `demo/served` holds the survey, the study, the ledger and the queue. Run with
`SERVE=1 make demo`; end it with Ctrl-C.
"""

import shutil
from pathlib import Path

import hospital

from discreet.cli._screen import say
from discreet.server import Pair, People, Publisher, Queue, ServerAddress, default_queue, make_folder

ADDRESS = "127.0.0.1:8000"
SERVE = """
[serve]
policy = "automatic"
allowance = "1"                    # each analyst may use so much without a steward
time_limit = 4
visible_after = 5                  # every answer is shown 5 seconds after it was begun
"""


def main(folder: Path = Path("demo/served"), address: str = ADDRESS) -> None:
    """Write the survey and serve it, with a link for an analyst beside that for a steward."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    hospital.FOLDER = folder
    hospital.write_survey()
    study = folder / "study.toml"
    study.write_text(hospital.STUDY + SERVE)
    place = str(default_queue(study))
    make_folder(place)
    queue = Queue(place)
    Publisher(study, queue).prepare()
    link = People(queue).invite("ann", "analyst", "(demo)")
    queue.engine.dispose()
    say(f"An analyst, ann, begins here: http://{address}/welcome/{link}")
    Pair(study.absolute(), place, ServerAddress(address), None, None, say).run()


if __name__ == "__main__":
    main()
