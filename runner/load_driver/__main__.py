"""``python -m runner.load_driver FOLDER``: carry out the job in a folder."""

import sys

from runner.load_driver.main import main

if __name__ == "__main__":
    sys.exit(main(sys.argv))
