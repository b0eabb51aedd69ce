"""`python -m schedgap` is the command `schedgap`."""

from schedgap.bench.cli.app import main

if __name__ == "__main__":
    main()
