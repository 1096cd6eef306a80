"""What tests of a whole study compare: the bytes of its tables."""

TABLES = ("runs.csv", "summary.csv", "comparisons.csv", "paths.csv", "failures.csv")


def contents(folder):
    return {name: (folder / name).read_bytes() for name in TABLES}
