"""hotfiber-bids: hotfiber over a BIDS data set. Needs Python 3.9 and its standard library, and the command hotfiber."""
