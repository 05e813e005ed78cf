"""Fails in another way each time."""

import random
import sys

sys.exit(1 + random.SystemRandom().randrange(200))
