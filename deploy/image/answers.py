"""`python answers.py PORT PATH`: a container's health; exit status 0 only if this host answers 200 there."""

import http.client
import sys


def main(port: int, path: str) -> None:
    # not urllib, which would ask a proxy that the environment names
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=4)
    try:
        connection.request("GET", path)
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException):
        raise SystemExit(f"port {port} does not answer {path}") from None
    finally:
        connection.close()
    if status != http.client.OK:
        raise SystemExit(f"port {port} answers {path} with {status}")


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
