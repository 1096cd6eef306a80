"""`python -m tcbo_pyomo` is the same as `tcbo`."""

from tcbo_pyomo.cli.main import main

if __name__ == "__main__":
    main()
