"""`python -m sandbox --port N [--host H] [--portal-id P] [--first-id N]`"""

import argparse
import os

from sandbox.server import serve


def main() -> None:
    parser = argparse.ArgumentParser(prog="sandbox", description="Serve local CRMs over HTTP.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="0 takes any free port")
    parser.add_argument("--portal-id", type=int, default=os.environ.get("SANDBOX_PORTAL_ID"))
    parser.add_argument("--first-id", type=int, help="of the first contact; default: one that no earlier start gave")
    arguments = parser.parse_args()
    serve(arguments.host, arguments.port, portal_id=arguments.portal_id, first_id=arguments.first_id)


if __name__ == "__main__":
    main()
