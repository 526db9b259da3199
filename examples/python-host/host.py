"""A host of workflow runs in one file, with the standard library of Python 3.9 or later alone. It serves major 2, keeps runs in
memory, and passes the profile `core` of svc-conformance. Start it with: SVC_HOST_KEY=... python3 host.py --port 8788"""
import argparse, hashlib, hmac, json, os, re, secrets, signal, sys, threading
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote_to_bytes, urlsplit

VERSION, TENANT, WORKSPACE = "2.0", "acme", "prod"
MAX_BODY, MAX_RUNS, MAX_DELAY_MS = 1024 * 1024, 10_000, 60_000
ENDED = {"completed", "failed", "cancelled"}
RECORD = {"status": "stable", "since": VERSION, "witness": "claims-check"}
LIMITS = {"clarificationRounds": 3, "schemaRounds": 3, "envelopesPerTurn": 16, "maxRequestBodyBytes": MAX_BODY}
SUBJECT = {"issuer": "python-host", "subjectId": "key-1", "tenant": TENANT, "lane": "api-key", "kind": "workload"}
OWNER = {"tenant": TENANT, "workspace": WORKSPACE, "subject": SUBJECT}
WORKFLOWS = ["conformance-noop", "conformance-failure", "conformance-delay", "conformance-cancellable"]
DISCOVERY = json.dumps({
    "protocolVersions": [VERSION], "preferredVersion": VERSION, "engineVersion": 1, "eventLogSchemaVersion": 3,
    "implementation": {"name": "python-host", "version": "1.0.0", "vendor": "example"},
    "limits": {**RECORD, **LIMITS}, "fixtures": WORKFLOWS}).encode()
DISCOVERY_TAG = '"%s"' % hashlib.sha256(DISCOVERY).hexdigest()[:32]


class Refusal(Exception):
    """Ends a request with an error envelope."""
    def __init__(self, status, code, message, details=None, headers=None):
        super().__init__(message)
        self.status, self.headers = status, headers or {}
        self.body = {"error": code, "message": message, **({"details": details} if details else {})}


def invalid(message):
    return Refusal(400, "validation_error", message)


class Run:
    """One run with its log. Every change appends an event under the lock, and wakes the readers that wait for one."""
    def __init__(self, asked):
        self.id, self.asked = "%s/%s" % (TENANT, secrets.token_hex(16)), asked
        self.status, self.events, self.changed = "pending", [], threading.Condition()
        self.append("running", "run.started", {"workflowId": asked["workflowId"], "owner": OWNER})

    def append(self, status, kind, payload):
        with self.changed:
            if self.status in ENDED:
                return False
            self.status = status
            self.events.append({
                "eventId": secrets.token_hex(16), "runId": self.id, "type": kind, "sequence": len(self.events),
                "timestamp": datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
                "payload": payload, "schemaVersion": 1, "engineVersion": 1})
            self.changed.notify_all()
            return True

    def execute(self):
        if self.asked["workflowId"] == "conformance-failure":
            self.append("failed", "run.failed", {"error": {"code": "sample_failure", "message": "The workflow fails."}})
        else:
            self.append("completed", "run.completed", {})

    def after(self, sequence, seconds):
        """Returns the events after a sequence. Waits for one while the run goes on."""
        with self.changed:
            self.changed.wait_for(lambda: self.status in ENDED or len(self.events) > sequence + 1, seconds)
            return self.events[sequence + 1:], self.status

    def snapshot(self):
        with self.changed:
            optional = {name: self.asked[name] for name in ("tags", "metadata", "configurable") if name in self.asked}
            last = self.events[-1]["payload"]
            return {"runId": self.id, "workflowId": self.asked["workflowId"], "status": self.status, "mode": "live",
                    "owner": OWNER,
                    "eventLogSchemaVersion": 3, "engineVersion": 1, **optional,
                    **({"error": last["error"]} if self.status == "failed" else {})}


RUNS, LOCK = {}, threading.Lock()


def checked(body):
    """Returns the body of a creation when every member of it is valid."""
    if not isinstance(body, dict):
        raise invalid("The body must be a JSON object.")
    unknown = sorted(set(body) - {"workflowId", "inputs", "tags", "metadata", "configurable"})
    if unknown:
        raise invalid("The member %s is unknown. Remove it." % unknown[0])
    if body.get("workflowId") not in WORKFLOWS:
        raise invalid("workflowId must be one of %s." % ", ".join(WORKFLOWS))
    inputs, tags = body.get("inputs", {}), body.get("tags", [])
    delay = inputs.get("delayMs", 0) if isinstance(inputs, dict) else None
    if type(delay) is not int or not 0 <= delay <= MAX_DELAY_MS:
        raise invalid("inputs must be an object; its delayMs is a whole number up to %d." % MAX_DELAY_MS)
    if not isinstance(tags, list) or len(tags) > 100 or not all(isinstance(t, str) and len(t) <= 256 for t in tags):
        raise invalid("tags must be a list of up to 100 texts of up to 256 characters.")
    if not isinstance(body.get("metadata", {}), dict) or body.get("configurable", {"version": 1}) != {"version": 1}:
        raise invalid("metadata must be an object, and configurable must be {\"version\": 1}.")
    return body


class Host(BaseHTTPRequestHandler):
    protocol_version, timeout = "HTTP/1.1", 75

    def answer(self, status, body=None, headers=None, kind="application/json"):
        raw = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"SVC-Version": VERSION, "Cache-Control": "no-store", **(headers or {})}.items():
            if value is not None:
                self.send_header(name, value)
        if status != 304:
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        if self.command != "HEAD" and status != 304:
            self.wfile.write(raw)

    def send_error(self, code, message=None, explain=None):
        """Answers errors of the HTTP parser in the form of the protocol."""
        # A line that was not read leaves HTTP/0.9 here, which has no headers.
        self.close_connection, self.request_version = True, self.protocol_version
        self.answer(code, {"error": "validation_error", "message": "The request is not valid HTTP."}, {"Connection": "close"})

    def respond(self):
        self.unread = int(self.headers.get("Content-Length") or 0) if (self.headers.get("Content-Length") or "0").isdigit() else -1
        if self.unread < 0 or self.headers.get("Transfer-Encoding"):
            return self.send_error(411)
        try:
            self.route()
        except Refusal as refusal:
            # A body that was not read would be taken for the next request of the connection.
            self.close_connection = self.close_connection or self.unread > 0
            self.answer(refusal.status, refusal.body, {**refusal.headers, **({"Connection": "close"} if self.close_connection else {})})
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = respond

    def route(self):
        """Checks the version, then the credential, then finds the operation."""
        url, versions = urlsplit(self.path), self.headers.get_all("SVC-Version") or ["2"]
        if re.match(r"/v[0-9]+(/|$)", url.path):
            # Major 2 has no prefix, so this is no operation of the protocol. The answer carries neither its version nor its envelope.
            return self.answer(404, b"There is no such path.\n", {"SVC-Version": None}, "text/plain")
        if len(versions) > 1 or not re.fullmatch(r"2(\.(0|[1-9][0-9]*))?", versions[0].strip()):
            raise Refusal(406, "protocol_version_unsupported", "The host serves major 2.", {"protocolVersions": [VERSION]})
        if url.path == "/.well-known/svc":
            return self.only("GET", "HEAD") or self.document()
        self.authenticate()
        if url.path == "/runs" and self.command != "GET":
            return self.only("POST") or self.create()
        found = re.fullmatch(r"/runs/([^/:]+)(|/cancel|/events|/events/poll)", url.path)
        if not found:
            raise Refusal(404, "not_found", "There is no such operation.")
        if found[2] == "/cancel":
            return self.only("POST") or self.cancel(self.run(found[1]))
        self.only("GET", "HEAD")
        operation = {"": self.read, "/events": self.stream, "/events/poll": self.poll}[found[2]]
        operation(self.run(found[1]), {name: values[-1] for name, values in parse_qs(url.query).items()})

    def only(self, *methods):
        if self.command not in methods:
            allow = {"Allow": ", ".join(methods)}
            raise Refusal(405, "validation_error", "The operation has the methods %s." % allow["Allow"], headers=allow)

    def authenticate(self):
        given = self.headers.get_all("Authorization") or []
        key = re.fullmatch(r"[Bb]earer +([\x21-\x7e]+)", given[0].strip()) if len(given) == 1 else None
        digest = hashlib.sha256((key[1] if key else "").encode()).digest()
        if not hmac.compare_digest(digest, self.server.key_digest):
            raise Refusal(401, "unauthenticated", "Pass an API key as a Bearer token.", headers={"WWW-Authenticate": "Bearer"})

    def document(self):
        headers = {"ETag": DISCOVERY_TAG, "Vary": "SVC-Version", "Cache-Control": "public, max-age=300"}
        self.conditional(DISCOVERY, headers)

    def conditional(self, body, headers):
        known = [tag.strip() for tag in self.headers.get("If-None-Match", "").split(",")]
        self.answer(304 if headers["ETag"] in known or "*" in known else 200, body, headers)

    def body(self):
        if self.unread > MAX_BODY:
            raise Refusal(413, "payload_too_large", "A body has at most %d bytes." % MAX_BODY)
        size, self.unread = self.unread, 0
        raw = self.rfile.read(size)
        if self.headers.get_content_type() != "application/json":
            raise Refusal(415, "unsupported_media_type", "Send application/json.")
        try:
            return json.loads(raw)
        except (ValueError, RecursionError):
            raise invalid("The body must be JSON.") from None

    def run(self, segment):
        try:
            if re.search(r"~(?![0-9A-Fa-f]{2})", segment):
                raise ValueError
            text = unquote_to_bytes(re.sub(r"~([0-9A-Fa-f]{2})", r"%\1", segment)).decode()
        except ValueError:
            raise invalid("The id of the run is not valid.") from None
        if text.count("/") == 1 and not text.startswith(TENANT + "/"):
            raise Refusal(403, "id_tenant_mismatch", "The id is bound to another tenant.")
        if text not in RUNS:
            raise Refusal(404, "not_found", "There is no such run.")
        return RUNS[text]

    def create(self):
        asked = checked(self.body())
        run = Run(asked)
        with LOCK:
            if len(RUNS) >= MAX_RUNS:
                del RUNS[next((old for old in RUNS if RUNS[old].status in ENDED), next(iter(RUNS)))]
            RUNS[run.id] = run
        timer = threading.Timer(asked.get("inputs", {}).get("delayMs", 0) / 1000, run.execute)
        timer.daemon = True
        timer.start()
        place = "http://%s/runs/%s" % (self.headers.get("Host"), run.id.replace("/", "~2F"))
        self.answer(201, {"runId": run.id, "status": "running", "eventsUrl": place + "/events", "statusUrl": place})

    def read(self, run, _query):
        body = json.dumps(run.snapshot()).encode()
        self.conditional(body, {"ETag": '"%s"' % hashlib.sha256(body).hexdigest()[:32], "Cache-Control": "no-cache"})

    def cancel(self, run):
        if self.unread > 0:
            self.body()
        if not run.append("cancelled", "run.cancelled", {}):
            raise Refusal(409, "run_terminal", "The run has ended.", {"runStatus": run.status})
        self.answer(200, {"runId": run.id, "status": "cancelled"})

    def poll(self, run, query):
        cursor, seconds = query.get("afterSequence", "-1"), query.get("timeout", "30")
        if not re.fullmatch(r"-1|[0-9]{1,15}", cursor) or not re.fullmatch(r"[1-9]|[1-5][0-9]|60", seconds):
            raise invalid("afterSequence must be a whole number, and timeout a number of seconds from 1 to 60.")
        events, status = run.after(int(cursor), int(seconds))
        last = events[-1]["sequence"] if events else int(cursor)
        self.answer(200, {"runId": run.id, "events": events, "lastSequence": last, "status": status, "isTerminal": status in ENDED})

    def stream(self, run, _query):
        """Sends each event as it occurs, and a comment every 15 seconds, until the run has ended."""
        last = self.headers.get("Last-Event-ID", "-1")
        if not re.fullmatch(r"-1|[0-9]{1,15}", last):
            raise invalid("Last-Event-ID must be a whole number.")
        self.close_connection = True
        self.send_response(200)
        for name, value in (("SVC-Version", VERSION), ("Content-Type", "text/event-stream"), ("Cache-Control", "no-store"), ("Connection", "close")):
            self.send_header(name, value)
        self.end_headers()
        sequence, status = int(last), "running"
        while self.command != "HEAD" and not (status in ENDED and sequence + 1 >= len(run.events)):
            events, status = run.after(sequence, 15)
            frames = "".join("id: %d\nevent: %s\ndata: %s\n\n" % (e["sequence"], e["type"], json.dumps(e)) for e in events)
            self.wfile.write((frames or ": waiting\n\n").encode())
            self.wfile.flush()
            sequence += len(events)

    def log_message(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=8788)
    key = os.environ.get("SVC_HOST_KEY", "")
    if len(key) < 32:
        sys.exit("SVC_HOST_KEY: must have at least 32 characters. Generate one with `openssl rand -hex 32`.")
    server = ThreadingHTTPServer(("127.0.0.1", parser.parse_args().port), Host)
    server.daemon_threads, server.key_digest = True, hashlib.sha256(key.encode()).digest()
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
    print("http://127.0.0.1:%d" % server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
