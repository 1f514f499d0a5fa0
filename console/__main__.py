"""`python -m console`: the same as `leadproof`."""

from console.cli import app

if __name__ == "__main__":
    app()
