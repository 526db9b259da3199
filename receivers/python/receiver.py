#!/usr/bin/env python3
"""Receives deliveries over HTTP: `WEBHOOK_SECRET=… python3 receiver.py`. It prints each one."""

from __future__ import annotations

import argparse
import os
import re
import signal
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from svc_webhook import Answer, Delivery, MemoryDedupStore, Receiver, StandardVerifier, VerificationError, Webhook

MAX_BODY_BYTES = 1_048_576
MAX_CONNECTIONS = 200


def handle(delivery: Delivery) -> None:
    """Put your code here. When it raises, the sender gets 500 and tries again."""
    say(f"received {delivery.event_type} of {delivery.run_id} #{int(delivery.event['sequence'])}")


def say(line: str) -> None:
    print(line, flush=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--port", type=int, default=8788, help="default 8788; 0 takes a free one")
    options.add_argument("--host", default="127.0.0.1", help="default 127.0.0.1; 0.0.0.0 lets other machines connect")
    options.add_argument("--standard", action="store_true", help="the subscription is signed by standard-webhooks-1")
    options.add_argument("--body-seconds", type=float, default=10, help="a slower body is answered 408; default 10")
    given = options.parse_args()
    names = ("WEBHOOK_SECRET", "WEBHOOK_SECRET_OLDER")
    secrets = [os.environ[name] for name in names if os.environ.get(name)]
    make = StandardVerifier if given.standard else Webhook
    try:
        verifier = make(secrets, webhook_id=os.environ.get("WEBHOOK_ID"))
    except ValueError as error:
        sys.exit(f"WEBHOOK_SECRET: {error}")
    receiver = Receiver(
        verifier,
        handle,
        dedup=MemoryDedupStore(),
        on_rejected=lambda error: say(f"refused: {rejection(error)}"),
        on_failed=lambda error, delivery: say(f"failed: {delivery.run_id}: {error!r}"),
    )
    server = Server((given.host, given.port), handler_of(receiver, given.body_seconds))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    say(f"listening on http://{given.host}:{server.server_address[1]}")
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


def rejection(error: VerificationError) -> str:
    return f"{error.code}. {error}"


class Server(ThreadingHTTPServer):
    """Serves at most MAX_CONNECTIONS at once; further ones wait in the queue of the operating system."""

    daemon_threads = True
    slots = threading.BoundedSemaphore(MAX_CONNECTIONS)

    def process_request(self, request, client_address):
        self.slots.acquire()
        super().process_request(request, client_address)

    def process_request_thread(self, request, client_address):
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.slots.release()


def handler_of(receiver: Receiver, body_seconds: float) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 10  # seconds without a byte

        def do_POST(self) -> None:
            body = self.read_body()
            if isinstance(body, int):
                self.close_connection = True  # the rest of the body would be parsed as the next request
                return self.write(Answer(body))
            self.write(receiver.handle(body, self.headers.items()))

        def do_GET(self) -> None:
            self.close_connection = True
            self.write(Answer(405))

        do_HEAD = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_GET

        def read_body(self) -> bytes | int:
            """Returns the body, or the status of the answer when it was not read to its end."""
            lengths = self.headers.get_all("Content-Length", [])
            if "Transfer-Encoding" in self.headers or not lengths:
                return 411
            if len(lengths) != 1 or re.fullmatch("[0-9]{1,15}", lengths[0]) is None:
                return 400
            left = int(lengths[0])
            if left > MAX_BODY_BYTES:
                return 413
            deadline = time.monotonic() + body_seconds
            chunks = []
            try:
                while left > 0:
                    self.connection.settimeout(max(deadline - time.monotonic(), 0.001))
                    chunk = self.rfile.read1(left)
                    if not chunk:
                        return 400
                    chunks.append(chunk)
                    left -= len(chunk)
            except socket.timeout:
                return 408
            finally:
                self.connection.settimeout(self.timeout)
            return b"".join(chunks)

        def write(self, answer: Answer) -> None:
            self.send_response(answer.status)
            self.send_header("Content-Length", str(len(answer.body)))
            if answer.body:
                self.send_header("Content-Type", "application/json")
            if answer.status == 405:
                self.send_header("Allow", "POST")
            if self.close_connection:
                self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(answer.body)

        def version_string(self) -> str:
            return "svc-receiver"

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler


if __name__ == "__main__":
    main()
