"""What a kernel may take of a multiprocessor beyond its row in a table."""

# NVRTC goes through some of its sets in the order of their addresses: of one text it makes different code from one run to
# the next, which takes a few registers more or less. A warp gets registers in units of 256, 8 for each thread; a
# difference within one unit is no finding.
NOISE = {"registers": 8}


def exceeds(field, takes, allowed):
    return takes > allowed + NOISE.get(field, 0)
