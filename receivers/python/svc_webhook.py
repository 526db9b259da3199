"""Verifies signed deliveries: authentic, fresh and new.

One file without dependencies, for Python 3.9 and later. Copy it into your project.

    webhook = Webhook(secret)
    delivery = webhook.verify(raw_body, headers)  # raises VerificationError

    receiver = Receiver(webhook, on_delivery=handle, dedup=MemoryDedupStore())
    answer = receiver.handle(raw_body, headers)  # answer.status, answer.body
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import math
import re
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Callable, Iterable, Mapping, Optional, Protocol, Sequence, Union

TOLERANCE_SECONDS = 300
"""The default tolerance: five minutes in either direction, inclusive."""

CODES: Mapping[str, tuple[int, str]] = {
    "missing_header": (400, "A signature header is missing. Pass all headers of the request, unfiltered."),
    "repeated_header": (400, "A signature header is repeated with different values. Look for a proxy that adds headers."),
    "header_mismatch": (400, "The headers of two families contradict each other. Look for a proxy that rewrites one."),
    "webhook_id_mismatch": (401, "The delivery is of another subscription. Compare its id with webhook_id."),
    "malformed_timestamp": (400, "The timestamp header is not Unix time in whole seconds. Check the sender."),
    "timestamp_out_of_range": (401, "The signing time is too far from now. Check the clock of this machine (NTP)."),
    "unknown_algorithm": (400, "The signature algorithm is not v1, the only one supported. Check the sender."),
    "malformed_signature": (400, "The signature header does not have the form of its algorithm. Check the sender."),
    "signature_mismatch": (401, "No secret gives this signature. Pass the subscription's secret and the raw body."),
    "malformed_body": (400, "The body is signed, but it is not a delivery."),
    "event_type_mismatch": (400, "The event-type header differs from the signed body. Look for a proxy that rewrites it."),
}
"""The error codes, each with the status of the answer and a message for the developer of the receiver."""


class VerificationError(Exception):
    """The rejection of a request. It contains no part of the body, of a header value or of a secret."""

    def __init__(self, code: str) -> None:
        self.code = code
        self.status, message = CODES[code]
        super().__init__(message)


@dataclass(frozen=True)
class Delivery:
    """A verified delivery. Every field except `webhook_id` comes from signed bytes."""

    webhook_id: str
    event_type: str
    timestamp: int
    """The time of signing in Unix seconds."""
    run_id: str
    workspace_id: Optional[str]
    event: Mapping[str, Any]

    @property
    def key(self) -> str:
        """The key for deduplication: deliveries of one event to one subscription have the same."""
        parts = [self.webhook_id, self.run_id, int(self.event["sequence"])]
        return json.dumps(parts, separators=(",", ":"), ensure_ascii=False)


@dataclass(frozen=True)
class Challenge:
    """The verification of an endpoint. The answer must repeat the text."""

    text: str


@dataclass(frozen=True)
class Message:
    """A verified message of any sender that signs by Standard Webhooks."""

    id: str
    """The id of the message, the same for each of its attempts: the key for deduplication."""
    timestamp: int
    payload: Any


Headers = Union[Mapping[Any, Any], Iterable[tuple[Any, Any]]]
"""The headers of a request: a mapping, whose values may be lists, or pairs of a name and a value, as text or bytes."""


class Webhook:
    """Verifies the deliveries of one subscription, by the scheme `v1`.

    `secret` is the text exactly as issued, or a list while a rotation overlaps. Raises ValueError for an invalid option.
    """

    def __init__(
        self,
        secret: Union[str, Sequence[str]],
        *,
        tolerance_seconds: float = TOLERANCE_SECONDS,
        webhook_id: Optional[str] = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._macs = [_mac(text.encode()) for text in _secrets(secret)]
        self._fresh = _Freshness(tolerance_seconds, now)
        self._webhook_id = webhook_id

    def verify(self, body: bytes, headers: Headers) -> Delivery:
        """Verifies a delivery. Raises VerificationError, or TypeError for a body that is not the raw bytes."""
        raw = _raw(body)
        values = _single_values(headers, _V1_NAMES)
        webhook_id, event_type, timestamp, signature = (_required(values, field) for field in _REQUIRED_FIELDS)
        algorithm = _agreed(values, "signature-algorithm")
        if self._webhook_id is not None and webhook_id != self._webhook_id:
            raise VerificationError("webhook_id_mismatch")
        seconds = self._fresh.check(timestamp)
        if algorithm not in (None, "v1"):
            raise VerificationError("unknown_algorithm")
        if re.fullmatch("sha256=[0-9a-fA-F]{64}", signature) is None:
            raise VerificationError("malformed_signature")
        claimed = [signature[7:].lower()]
        if not _is_signed([_digest(mac, timestamp, raw).hex() for mac in self._macs], claimed):
            raise VerificationError("signature_mismatch")
        return _delivery(_parsed(raw), webhook_id, event_type, seconds)


class StandardWebhook:
    """Verifies messages of any sender that signs by Standard Webhooks.

    `families` lists the accepted header names: "webhook" for `webhook-id`, "svix" for `svix-id`. A request with headers
    of two accepted families is rejected. `unprefixed_secret` accepts secrets without `whsec_`.
    """

    def __init__(
        self,
        secret: Union[str, Sequence[str]],
        *,
        tolerance_seconds: float = TOLERANCE_SECONDS,
        families: Sequence[str] = ("webhook",),
        unprefixed_secret: bool = False,
        now: Callable[[], float] = time.time,
    ) -> None:
        if isinstance(families, str) or not families or not set(families) <= {"webhook", "svix"}:
            raise ValueError('families: must list "webhook", "svix" or both. Leave it out for "webhook".')
        self._macs = [_mac(_standard_key(text, unprefixed_secret)) for text in _secrets(secret)]
        self._fresh = _Freshness(tolerance_seconds, now)
        self._families = list(dict.fromkeys(families))

    def verify(self, body: bytes, headers: Headers) -> Message:
        """Verifies a message and parses its body. Raises VerificationError, or TypeError for a parsed body."""
        raw = _raw(body)
        message_id, seconds = self.verify_signature(raw, headers)
        return Message(message_id, seconds, _parsed(raw))

    def verify_signature(self, body: bytes, headers: Headers) -> tuple[str, int]:
        """Verifies a message without parsing its body. Returns its id and the time of signing."""
        raw = _raw(body)
        message_id, timestamp, signatures = self._read(list(_pairs(headers)))
        seconds = self._fresh.check(timestamp)
        # The signed text of an old message could be split at another dot: its old time in the id, a number of its body as time.
        if "." in message_id:
            raise VerificationError("malformed_signature")
        claimed = _standard_signatures(signatures)
        prefix = f"{message_id}.{timestamp}"
        if not _is_signed([base64.b64encode(_digest(mac, prefix, raw)).decode() for mac in self._macs], claimed):
            raise VerificationError("signature_mismatch")
        return message_id, seconds

    def _read(self, pairs: list[tuple[str, str]]) -> tuple[str, str, str]:
        found = []
        for family in self._families:
            single = _single_values(pairs, (f"{family}-id", f"{family}-timestamp"))
            listed = [value for name, value in pairs if name == f"{family}-signature"]
            values = (single.get(f"{family}-id"), single.get(f"{family}-timestamp"), " ".join(listed) if listed else None)
            if values != (None, None, None):
                found.append(values)
        if len(found) > 1:
            raise VerificationError("header_mismatch")
        if not found or None in found[0]:
            raise VerificationError("missing_header")
        return found[0]


class StandardVerifier:
    """Verifies the deliveries of a subscription that is signed by `standard-webhooks-1`.

    It recognises the verification of the endpoint too. The options are those of StandardWebhook, and `webhook_id`.
    """

    def __init__(self, secret: Union[str, Sequence[str]], *, webhook_id: Optional[str] = None, **options: Any) -> None:
        self._webhook = StandardWebhook(secret, **options)
        self._webhook_id = webhook_id

    def verify(self, body: bytes, headers: Headers) -> Union[Delivery, Challenge]:
        """Verifies a delivery or a challenge. Raises VerificationError, or TypeError for a parsed body."""
        raw = _raw(body)
        pairs = list(_pairs(headers))
        _, seconds = self._webhook.verify_signature(raw, pairs)
        content = _parsed(raw)
        # The challenge comes from the signed body alone, so that only the holder of the secret can have a text repeated.
        if isinstance(content, dict) and content.get("type") == "svc.webhook.verification":
            challenge = content.get("challenge")
            if not isinstance(challenge, str) or re.fullmatch("[A-Za-z0-9_-]{16,512}", challenge) is None:
                raise VerificationError("malformed_body")
            return Challenge(challenge)
        values = _single_values(pairs, _CLAIM_NAMES)
        webhook_id, event_type = _agreed(values, "webhook-id"), _agreed(values, "event-type")
        if webhook_id is None:
            raise VerificationError("missing_header")
        if self._webhook_id is not None and webhook_id != self._webhook_id:
            raise VerificationError("webhook_id_mismatch")
        return _delivery(content, webhook_id, event_type, seconds)


# ── deduplication ──


@dataclass(frozen=True)
class Claim:
    """The result of a claim: `claimed` (the handler may run), `handled` or `in-flight`."""

    state: str
    token: str = ""


class DedupStore(Protocol):
    """A memory of handled deliveries.

    A delivery is claimed before its handler runs. The claim is confirmed when the handler succeeds, and released when it
    fails. A claim that is neither confirmed nor released expires.
    """

    def claim(self, key: str) -> Claim: ...

    def confirm(self, key: str, token: str) -> None: ...

    def release(self, key: str, token: str) -> None: ...


class MemoryDedupStore:
    """A dedup store in the memory of one process, for several threads. It forgets the oldest delivery first.

    `capacity` is a number of deliveries, `ttl_seconds` the time for which a handled delivery is remembered (3 days),
    `claim_seconds` the lifetime of an open claim, which must exceed the time of the slowest handler.
    """

    def __init__(
        self,
        *,
        capacity: int = 100_000,
        ttl_seconds: float = 259_200,
        claim_seconds: float = 300,
        now: Callable[[], float] = time.time,
    ) -> None:
        for name, value in (("capacity", capacity), ("ttl_seconds", ttl_seconds), ("claim_seconds", claim_seconds)):
            if not value > 0:
                raise ValueError(f"{name}: must be a positive number. Leave it out for the default.")
        self._capacity, self._ttl, self._claim_seconds, self._now = capacity, ttl_seconds, claim_seconds, now
        self._lock = threading.Lock()
        self._entries: OrderedDict[str, tuple[Optional[str], float]] = OrderedDict()
        self._claims = 0

    def claim(self, key: str) -> Claim:
        with self._lock:
            token, until = self._entries.get(key, (None, -math.inf))
            if until > self._now():
                return Claim("handled" if token is None else "in-flight")
            self._claims += 1
            self._remember(key, str(self._claims), self._claim_seconds)
            return Claim("claimed", str(self._claims))

    def confirm(self, key: str, token: str) -> None:
        with self._lock:
            known, until = self._entries.get(key, (token, -math.inf))
            if until <= self._now() or known == token:
                self._remember(key, None, self._ttl)

    def release(self, key: str, token: str) -> None:
        with self._lock:
            if self._entries.get(key, (None, 0))[0] == token:
                del self._entries[key]

    def _remember(self, key: str, token: Optional[str], seconds: float) -> None:
        self._entries.pop(key, None)
        self._entries[key] = (token, self._now() + seconds)
        while len(self._entries) > self._capacity or next(iter(self._entries.values()))[1] <= self._now():
            self._entries.popitem(last=False)


# ── a receiver without a framework ──


@dataclass(frozen=True)
class Answer:
    """The answer to a request. The sender acts on the status alone; `body` is JSON, or empty."""

    status: int
    body: bytes = b""


class Verifier(Protocol):
    """A judge of requests: Webhook, StandardVerifier, or your own."""

    def verify(self, body: bytes, headers: Headers) -> Union[Delivery, Challenge]: ...


class Receiver:
    """Verifies a delivery, deduplicates it, handles it, and returns the answer.

    200: handled now or before. 400, 401: rejected. 409: the same event is being handled. 500: `on_delivery` raised or the
    dedup store failed, so that the sender tries again.
    """

    def __init__(
        self,
        verifier: Verifier,
        on_delivery: Callable[[Delivery], object],
        *,
        dedup: Optional[DedupStore] = None,
        on_rejected: Callable[[VerificationError], object] = lambda error: None,
        on_failed: Callable[[Exception, Delivery], object] = lambda error, delivery: None,
    ) -> None:
        self._verifier, self._on_delivery, self._dedup = verifier, on_delivery, dedup
        self._on_rejected, self._on_failed = on_rejected, on_failed

    def handle(self, body: bytes, headers: Headers) -> Answer:
        """Handles one request. Raises TypeError for a body that is not the raw bytes."""
        try:
            verified = self._verifier.verify(body, headers)
        except VerificationError as error:
            _notify(self._on_rejected, error)
            return Answer(error.status)
        if isinstance(verified, Challenge):
            return Answer(200, json.dumps({"challenge": verified.text}, separators=(",", ":")).encode())
        return Answer(self._handle(verified))

    def _handle(self, delivery: Delivery) -> int:
        claim = Claim("claimed")
        try:
            if self._dedup is not None:
                claim = self._dedup.claim(delivery.key)
            if claim.state != "claimed":
                return 200 if claim.state == "handled" else 409
        except Exception as error:
            _notify(self._on_failed, error, delivery)
            return 500
        try:
            self._on_delivery(delivery)
        except Exception as error:
            _notify(self._on_failed, error, delivery)
            self._settle("release", delivery, claim)
            return 500
        # The delivery is handled: a failure of the store must not make the sender try again.
        self._settle("confirm", delivery, claim)
        return 200

    def _settle(self, action: str, delivery: Delivery, claim: Claim) -> None:
        try:
            if self._dedup is not None:
                getattr(self._dedup, action)(delivery.key, claim.token)
        except Exception as error:
            _notify(self._on_failed, error, delivery)


def _notify(observer: Callable[..., object], *details: object) -> None:
    """Ignores the errors of an observer: they must not change the answer."""
    try:
        observer(*details)
    except Exception:
        pass


# ── the steps of the recipe ──

_REQUIRED_FIELDS = ("webhook-id", "event-type", "timestamp", "signature")
_V1_NAMES = [f"{family}-{field}" for family in ("svc", "x-svc") for field in (*_REQUIRED_FIELDS, "signature-algorithm")]
_CLAIM_NAMES = ["svc-webhook-id", "x-svc-webhook-id", "svc-event-type", "x-svc-event-type"]


def _pairs(headers: Headers) -> Iterable[tuple[str, str]]:
    """Yields each header with its name in lower case, and a repeated header once for each value."""
    if isinstance(headers, (str, bytes)) or headers is None:
        raise TypeError("headers: must be a mapping or pairs of a name and a value. Pass the headers of the request.")
    for name, value in headers.items() if hasattr(headers, "items") else headers:
        for one in value if isinstance(value, (list, tuple)) else (value,):
            if one is not None:
                yield _text(name).lower(), _text(one)


def _text(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def _single_values(headers: Headers, names: Iterable[str]) -> dict[str, str]:
    """Reads headers that have one value. A comma means that a platform has joined two headers."""
    values: dict[str, str] = {}
    wanted = frozenset(names)
    for name, value in _pairs(headers):
        if name not in wanted:
            continue
        for part in value.split(","):
            one = part.strip(" \t")
            if one != "" and values.setdefault(name, one) != one:
                raise VerificationError("repeated_header")
    return values


def _agreed(values: Mapping[str, str], field: str) -> Optional[str]:
    """Returns the value of the SVC- header, of the X-svc- header, or of both when they agree."""
    svc, x_svc = values.get(f"svc-{field}"), values.get(f"x-svc-{field}")
    if svc is not None and x_svc is not None and svc != x_svc:
        raise VerificationError("header_mismatch")
    return x_svc if svc is None else svc


def _required(values: Mapping[str, str], field: str) -> str:
    value = _agreed(values, field)
    if value is None:
        raise VerificationError("missing_header")
    return value


class _Freshness:
    def __init__(self, tolerance_seconds: float, now: Callable[[], float]) -> None:
        if not (0 < tolerance_seconds < math.inf):
            raise ValueError("tolerance_seconds: must be a positive number. Freshness cannot be switched off.")
        self._tolerance, self._now = tolerance_seconds, now

    def check(self, timestamp: str) -> int:
        if re.fullmatch("[0-9]{1,15}", timestamp) is None:
            raise VerificationError("malformed_timestamp")
        seconds = int(timestamp)
        if not abs(math.floor(self._now()) - seconds) <= self._tolerance:
            raise VerificationError("timestamp_out_of_range")
        return seconds


def _secrets(secret: Union[str, Sequence[str]]) -> list[str]:
    secrets = [secret] if isinstance(secret, str) else list(secret or [])
    if not secrets or not all(isinstance(text, str) and text for text in secrets):
        raise ValueError("secret: must be a non-empty text or list of texts. Set its environment variable.")
    if any(text.strip() != text for text in secrets):
        raise ValueError("secret: has white space around it. Pass it exactly as issued.")
    return secrets


def _standard_key(secret: str, is_prefix_optional: bool) -> bytes:
    encoded = secret[6:] if secret.startswith("whsec_") else secret if is_prefix_optional else ""
    form = "(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?"
    key = base64.b64decode(encoded) if re.fullmatch(form, encoded) else b""
    if not 24 <= len(key) <= 64:
        raise ValueError("secret: must be whsec_ followed by the base64 of 24 to 64 bytes. Pass it exactly as issued.")
    return key


def _standard_signatures(text: str) -> list[str]:
    """Reads the base64 digests of version v1. A rotation needs two or three; 20 bound the work for one request."""
    entries = re.split(",? +", text, maxsplit=20)
    found = [re.fullmatch("v1,([A-Za-z0-9+/]{43}=)", entry) for entry in entries]
    digests = [match.group(1) for match in found if match is not None]
    if not digests or len(entries) > 20:
        raise VerificationError("malformed_signature")
    return digests


def _mac(key: bytes) -> hmac.HMAC:
    return hmac.new(key, digestmod=hashlib.sha256)


def _digest(mac: hmac.HMAC, prefix: str, body: bytes) -> bytes:
    copy = mac.copy()
    copy.update(f"{prefix}.".encode("utf-8", "replace"))
    copy.update(body)
    return copy.digest()


def _is_signed(computed: Sequence[str], claimed: Sequence[str]) -> bool:
    """Compares in constant time, and tries every pair, so that the duration does not reveal the one that fits."""
    signed = False
    for digest in computed:
        for claim in claimed:
            signed = hmac.compare_digest(digest, claim) or signed
    return signed


def _raw(body: Any) -> bytes:
    if isinstance(body, (bytes, bytearray, memoryview)):
        return bytes(body)
    raise TypeError(
        "body: must be the raw bytes of the request, not text and not a parsed object. "
        "Flask: request.get_data(); Django: request.body; FastAPI: await request.body()."
    )


def _parsed(body: bytes) -> Any:
    """Parses JSON as strictly as RFC 8259: bytes that are not UTF-8, a byte order mark and NaN are rejected."""
    try:
        return json.loads(body.decode("utf-8"), parse_int=_integer, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise VerificationError("malformed_body") from None


def _integer(digits: str) -> Union[int, float]:
    # int() refuses more than 4300 digits, and takes quadratic time before that.
    return int(digits) if len(digits) <= 400 else float(digits)


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)


def _delivery(content: Any, webhook_id: str, event_type: Optional[str], timestamp: int) -> Delivery:
    event = content.get("event") if isinstance(content, dict) else None
    if not isinstance(event, dict) or "payload" not in event or not _is_sequence(event.get("sequence")):
        raise VerificationError("malformed_body")
    run_id, kind, at = content.get("runId"), event.get("type"), event.get("timestamp")
    workspace_id = content.get("workspaceId")
    texts = [run_id, kind, at, *([workspace_id] if "workspaceId" in content else [])]
    if not all(isinstance(text, str) and text != "" for text in texts) or event.get("runId") != run_id:
        raise VerificationError("malformed_body")
    if event_type is not None and event_type != kind:
        raise VerificationError("event_type_mismatch")
    return Delivery(webhook_id, kind, timestamp, run_id, workspace_id, event)


def _is_sequence(value: Any) -> bool:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and abs(value) <= 2**53 - 1 and value == int(value)
