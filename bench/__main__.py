"""`python -m schedgap.bench` is the command `schedgap`; `python -m schedgap` cannot be: a namespace has no `__main__`."""

from schedgap.bench.cli.app import main

if __name__ == "__main__":
    main()
