"""`python -m hotfiber_bids`."""
import sys

from .command import main

sys.exit(main())
