"""Sends an image to a running server from several threads, and prints how many answers come a second.

    python examples/serve/load.py http://127.0.0.1:8000 --seconds 5 --threads 4
"""

import argparse
import http.client
import threading
import time
from urllib.parse import urlparse


def requests(address: str, body: str, until: float, times: list[float]) -> None:
    """One connection that asks until the time is over; each answer's time goes to `times`."""
    connection = http.client.HTTPConnection(address, timeout=10)
    while (start := time.perf_counter()) < until:
        connection.request("POST", "/", body)
        response = connection.getresponse()
        answer = response.read()
        assert response.status == 200, answer
        times.append(time.perf_counter() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description="Sends an image to a running server, and prints how many answers come a second.")
    parser.add_argument("url")
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--threads", type=int, default=4)
    options = parser.parse_args()
    body = " ".join(str(i % 17 / 16) for i in range(64))
    times: list[list[float]] = [[] for _ in range(options.threads)]
    until = time.perf_counter() + options.seconds
    address = str(urlparse(str(options.url)).netloc)
    threads = [threading.Thread(target=requests, args=(address, body, until, own)) for own in times]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    every = sorted(t for own in times for t in own)
    middle, late = every[len(every) // 2], every[int(len(every) * 0.99)]
    print(f"{len(every) / options.seconds:.0f} requests a second, half of them within {middle * 1e3:.2f} ms, 99 % within {late * 1e3:.2f} ms")


if __name__ == "__main__":
    main()
