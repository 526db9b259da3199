#!/usr/bin/env python3
"""Writes the vectors of this folder: `python3 make.py`. `python3 make.py --check` only compares.

The `openssl` program computes every signature. Neither this file nor the verifiers that the vectors test contain an HMAC
that the vectors depend on. README.md describes the format.
"""

import base64
import json
import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
SOURCE = "openssl dgst -sha256 -mac HMAC -macopt hexkey:KEY, over the signed bytes; see make.py and README.md"
NOW = 1_700_000_000
SECRET = "0123456789abcdef" * 4
OLDER = "fedcba9876543210" * 4
TYPE = "run.completed"
MALFORMED = 400
NOT_AUTHENTIC = 401
STATUSES = {
    "accepted": 200,
    "challenge": 200,
    "signature_mismatch": NOT_AUTHENTIC,
    "timestamp_out_of_range": NOT_AUTHENTIC,
    "webhook_id_mismatch": NOT_AUTHENTIC,
}


def hmac(key, message):
    command = ["openssl", "dgst", "-sha256", "-mac", "HMAC", "-macopt", f"hexkey:{octets(key).hex()}", "-binary"]
    return subprocess.run(command, input=octets(message), stdout=subprocess.PIPE, check=True).stdout


def octets(text):
    return text if isinstance(text, bytes) else text.encode()


def base64_of(data):
    return base64.b64encode(octets(data)).decode()


def compact(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def formatted(text):
    return json.dumps(json.loads(text), indent=2, ensure_ascii=False)


def shown(text):
    return text.replace("\t", "\\t").replace("\u00a0", "\\u00a0")


LEFT_OUT = object()


def changed(members, change):
    return {name: value for name, value in {**members, **change}.items() if value is not LEFT_OUT}


def event_body(**event):
    return body_of(event=event)


def body_of(event={}, **change):
    envelope = {
        "type": TYPE,
        "runId": "run_1",
        "sequence": 3,
        "timestamp": "2023-11-14T22:13:20Z",
        "payload": {"outputs": {}},
    }
    content = event if not isinstance(event, dict) else changed(envelope, event)
    return compact(changed({"runId": "run_1", "workspaceId": "w", "event": content}, change))


def case(why, outcome, secrets, now, headers, body, options=None, answer=None):
    status = STATUSES.get(outcome, MALFORMED)
    record = {"why": why, "outcome": outcome, "status": status, "secrets": secrets, "now": now}
    if options:
        record["options"] = options
    if answer:
        record["answer"] = answer
    return {**record, "headers": headers, "body": base64_of(body)}


# ── deliveries.json: the scheme v1 ──

BODY = body_of()


def signature(body=BODY, secret=SECRET, timestamp=str(NOW)):
    return "sha256=" + hmac(secret, octets(f"{timestamp}.") + octets(body)).hex()


def headers_of(family="SVC", body=BODY, secret=SECRET, timestamp=str(NOW), change={}):
    """The headers of a delivery as pairs. `change` replaces values, and LEFT_OUT removes one."""
    values = {
        "Webhook-Id": "whk_1",
        "Event-Type": TYPE,
        "Timestamp": timestamp,
        "Signature": signature(body, secret, timestamp),
        "Signature-Algorithm": "v1",
    }
    return [[f"{family}-{name}", value] for name, value in changed(values, change).items()]


def delivery(why, outcome, body=BODY, sent=None, pairs=None, secrets=[SECRET], now=NOW, options=None, **signed):
    """Makes a case. An omitted part is valid. `sent` is the body that arrives, when it is not the signed one."""
    headers = headers_of(body=body, **signed) if pairs is None else pairs
    return case(why, outcome, secrets, now, headers, body if sent is None else sent, options)


def with_header(name, value):
    return {"change": {name: value}}


SVC = headers_of()
X_SVC = headers_of("X-svc")
GOOD = signature()
ZEROS = "sha256=" + "0" * 64


def replaced(pairs, name, value):
    return [[one, value if one == name else former] for one, former in pairs]


def accepted_deliveries():
    yield delivery("the SVC- headers alone", "accepted")
    yield delivery("the X-svc- headers alone", "accepted", pairs=X_SVC)
    yield delivery("both header families in agreement", "accepted", pairs=SVC + X_SVC)
    yield delivery(
        "the SVC- headers without their signature, the X-svc- headers with it",
        "accepted",
        pairs=[pair for pair in SVC if pair[0] != "SVC-Signature"] + X_SVC,
    )
    yield delivery("names in lower case", "accepted", pairs=[[name.lower(), value] for name, value in SVC])
    yield delivery("names in upper case", "accepted", pairs=[[name.upper(), value] for name, value in SVC])
    yield delivery("values with spaces around them", "accepted", pairs=[[name, f" {value}\t"] for name, value in SVC])
    yield delivery("a header that is repeated with the same value", "accepted", pairs=SVC + [SVC[3]])
    yield delivery("a header that is joined with the same value", "accepted", **with_header("Signature", f"{GOOD}, {GOOD}"))
    yield delivery("a header that is joined with an empty value", "accepted", **with_header("Timestamp", f"{NOW}, "))
    yield delivery("an empty copy of a header", "accepted", pairs=SVC + [["SVC-Signature", ""]])
    others = [["Content-Type", "application/json"], ["SVC-Signature-Of", ZEROS], ["webhook-id", "msg_1"], ["svix-id", "m"]]
    yield delivery("headers of other names", "accepted", pairs=SVC + others)
    yield delivery("no algorithm", "accepted", **with_header("Signature-Algorithm", LEFT_OUT))
    yield delivery("a signature in upper case", "accepted", **with_header("Signature", "sha256=" + GOOD[7:].upper()))
    yield delivery("the older of two secrets", "accepted", secret=OLDER, secrets=[SECRET, OLDER])
    yield delivery("the newer of two secrets", "accepted", secrets=[OLDER, SECRET])
    yield delivery("the last of four secrets", "accepted", secrets=["a", "b", OLDER, SECRET])
    yield delivery("a secret that is longer than a block", "accepted", secret=SECRET + OLDER, secrets=[SECRET + OLDER])
    yield delivery("a secret of one block", "accepted", secrets=[SECRET])
    yield delivery("a secret of one character", "accepted", secret="x", secrets=["x"])
    yield delivery("a secret outside ASCII", "accepted", secret="clé-🔑-секрет", secrets=["clé-🔑-секрет"])
    yield delivery("without a workspace", "accepted", body=body_of(workspaceId=LEFT_OUT))
    later = {"body": event_body(type="run.teleported"), "change": {"Event-Type": "run.teleported"}}
    yield delivery("a type of a later version", "accepted", **later)
    foreign = {"body": event_body(type="run.fertiggestellt.größer"), "change": {"Event-Type": "run.fertiggestellt.größer"}}
    yield delivery("a type outside ASCII", "accepted", **foreign)
    yield delivery("members of a later version", "accepted", body=body_of({"later": {"a": None}}, later=[1]))
    yield delivery("a body outside ASCII", "accepted", body=event_body(payload={"text": "ünïcödé ☃ 𝒳"}))
    yield delivery("a body that is formatted", "accepted", body=formatted(BODY) + "\n")
    yield delivery("a body with white space around it", "accepted", body=f"\r\n\t {BODY} ")
    for length in (47, 54, 55, 56, 63, 64, 119, 120, 1000):
        yield delivery(f"a payload of {length} bytes", "accepted", body=event_body(payload="x" * length))
    yield delivery("a payload that is null", "accepted", body=event_body(payload=None))
    yield delivery("a payload with half of a surrogate pair", "accepted", body=BODY.replace("{}", r'"\ud800"'))
    yield delivery("a payload with a number of 5000 digits", "accepted", body=BODY.replace("{}", "1" * 5000))
    yield delivery("a payload with a number beyond every double", "accepted", body=BODY.replace("{}", "1e400"))
    yield delivery("a sequence of 0", "accepted", body=event_body(sequence=0))
    yield delivery("the largest sequence", "accepted", body=event_body(sequence=2**53 - 1))
    yield delivery("a sequence with a fraction of zero", "accepted", body=BODY.replace(":3,", ":3.0,"))
    yield delivery("a sequence with an exponent", "accepted", body=BODY.replace(":3,", ":30e-1,"))
    yield delivery("a member that is repeated, with a valid last value", "accepted", body='{"runId":7,' + BODY[1:])
    yield delivery("signed 300 seconds ago", "accepted", timestamp=str(NOW - 300))
    yield delivery("signed 300 seconds ahead", "accepted", timestamp=str(NOW + 300))
    yield delivery("a timestamp with leading zeros", "accepted", timestamp=f"000{NOW}")
    ten = {"options": {"toleranceSeconds": 10}}
    yield delivery("signed 10 seconds ago, within a tolerance of 10", "accepted", timestamp=str(NOW - 10), **ten)
    yield delivery("signed 10 seconds ahead, within a tolerance of 10", "accepted", timestamp=str(NOW + 10), **ten)
    hour = {"options": {"toleranceSeconds": 3600}}
    yield delivery("signed an hour ago, within a tolerance of an hour", "accepted", timestamp=str(NOW - 3600), **hour)
    yield delivery("the only accepted subscription", "accepted", options={"webhookId": "whk_1"})


def deliveries_of_another_time():
    yield delivery("signed 301 seconds ago", "timestamp_out_of_range", timestamp=str(NOW - 301))
    yield delivery("signed 301 seconds ahead", "timestamp_out_of_range", timestamp=str(NOW + 301))
    ten = {"options": {"toleranceSeconds": 10}}
    yield delivery("signed 11 seconds ago, with a tolerance of 10", "timestamp_out_of_range", timestamp=str(NOW - 11), **ten)
    yield delivery("signed 11 seconds ahead, with a tolerance of 10", "timestamp_out_of_range", timestamp=str(NOW + 11), **ten)
    yield delivery("a timestamp in milliseconds", "timestamp_out_of_range", timestamp=str(NOW * 1000))
    yield delivery("a timestamp of 0", "timestamp_out_of_range", timestamp="0")
    yield delivery("a timestamp of 15 digits", "timestamp_out_of_range", timestamp="9" * 15)
    stale = {"timestamp": str(NOW - 301)}
    yield delivery("stale, with the signature of zeros", "timestamp_out_of_range", **stale, **with_header("Signature", ZEROS))
    yield delivery("stale, of another algorithm", "timestamp_out_of_range", **stale, **with_header("Signature-Algorithm", "v2"))
    for timestamp in (
        f"+{NOW}", f"-{NOW}", f"{NOW}.0", "17e8", "0x6553f100", "١٧٠٠٠٠٠٠٠٠", f"{NOW} 0", f"{NOW}\t0", "1" * 400,
        "1" * 16, "NaN", "1_700_000_000", "2023-11-14T22:13:20Z",
    ):  # fmt: skip
        yield delivery(f"the timestamp {shown(timestamp[:24])}", "malformed_timestamp", timestamp=timestamp)
    yield delivery("a no-break space before the timestamp", "malformed_timestamp", **with_header("Timestamp", f"\u00a0{NOW}"))
    yield delivery("a byte order mark before the timestamp", "malformed_timestamp", **with_header("Timestamp", f"\ufeff{NOW}"))


def deliveries_with_wrong_headers():
    for name in ("SVC-Webhook-Id", "SVC-Event-Type", "SVC-Timestamp", "SVC-Signature"):
        yield delivery(f"without {name}", "missing_header", pairs=[pair for pair in SVC if pair[0] != name])
    yield delivery("no headers", "missing_header", pairs=[])
    yield delivery("an empty signature", "missing_header", **with_header("Signature", ""))
    yield delivery("a signature of spaces", "missing_header", **with_header("Signature", " \t "))
    yield delivery("a timestamp of commas", "missing_header", **with_header("Timestamp", ",,"))
    underlined = [[name.replace("-", "_"), value] for name, value in SVC]
    yield delivery("names with underlines", "missing_header", pairs=underlined)
    yield delivery("the headers of Standard Webhooks alone", "missing_header", pairs=list(map(list, standard_headers([KEY], "msg_1", str(NOW), BODY).items())))
    for name, _ in X_SVC:
        pairs = SVC + replaced(X_SVC, name, "other")
        yield delivery(f"an {name} that differs from the SVC- header", "header_mismatch", pairs=pairs)
    upper = SVC + replaced(X_SVC, "X-svc-Signature", "sha256=" + GOOD[7:].upper())
    yield delivery("families whose signatures differ in letter case", "header_mismatch", pairs=upper)
    for name, _ in SVC:
        yield delivery(f"another {name} besides", "repeated_header", pairs=SVC + [[name.lower(), "other"]])
    yield delivery("two signatures joined by a comma", "repeated_header", **with_header("Signature", f"{GOOD}, {ZEROS}"))
    yield delivery("two ids joined by a comma", "repeated_header", **with_header("Webhook-Id", "whk_1,whk_2"))
    other = {"options": {"webhookId": "whk_2"}}
    yield delivery("another subscription than the accepted one", "webhook_id_mismatch", **other)
    yield delivery("an id that differs in letter case", "webhook_id_mismatch", options={"webhookId": "WHK_1"})
    yield delivery("another subscription, stale", "webhook_id_mismatch", timestamp=str(NOW - 301), **other)
    yield delivery("another subscription, with the signature of zeros", "webhook_id_mismatch", **other, **with_header("Signature", ZEROS))


def deliveries_with_wrong_signatures():
    for algorithm in ("v2", "V1", "v0", "none", "v1 v2", "standard-webhooks-1", "v1\u00a0"):
        yield delivery(f"the algorithm {shown(algorithm)}", "unknown_algorithm", **with_header("Signature-Algorithm", algorithm))
    unknown = {"change": {"Signature-Algorithm": "v2", "Signature": "v2=00"}}
    yield delivery("another algorithm with a signature of its own form", "unknown_algorithm", **unknown)
    for why, text in {
        "without its prefix": GOOD[7:],
        "of another hash": GOOD.replace("256", "512"),
        "with its prefix in upper case": GOOD.replace("sha", "SHA"),
        "that is one digit short": GOOD[:-1],
        "that is one digit long": GOOD + "0",
        "with a letter that is no digit": GOOD[:-1] + "g",
        "with a digit of full width": GOOD[:-1] + "０",
        "with a space inside": GOOD[:20] + " " + GOOD[21:],
        "with a no-break space after it": GOOD + "\u00a0",
        "of 4096 digits": "sha256=" + "0" * 4096,
        "in base64": "sha256=" + base64_of(hmac(SECRET, BODY)),
        "of the form of Standard Webhooks": f"v1={GOOD[7:]}",
    }.items():
        yield delivery(f"a signature {why}", "malformed_signature", **with_header("Signature", text))
    yield delivery("a signature of zeros", "signature_mismatch", **with_header("Signature", ZEROS))
    first = "1" if GOOD[7] == "0" else "0"
    last = "1" if GOOD.endswith("0") else "0"
    yield delivery("a signature whose first digit differs", "signature_mismatch", **with_header("Signature", f"sha256={first}{GOOD[8:]}"))
    yield delivery("a signature whose last digit differs", "signature_mismatch", **with_header("Signature", GOOD[:-1] + last))
    yield delivery("another secret", "signature_mismatch", secret=OLDER)
    yield delivery("another secret than both", "signature_mismatch", secret="third", secrets=[SECRET, OLDER])
    yield delivery("the hexadecimal of the secret decoded", "signature_mismatch", secret=bytes.fromhex(SECRET))
    yield delivery("a secret in upper case", "signature_mismatch", secret=SECRET.upper())
    for why, sent in {
        "with a byte more": BODY + " ",
        "with a zero byte more": BODY + "\0",
        "with a byte less": BODY[:-1],
        "with a newline after it": BODY + "\n",
        "with a byte order mark before it": "\ufeff" + BODY,
        "in UTF-16": BODY.encode("utf-16-le"),
    }.items():
        yield delivery(f"a body {why}", "signature_mismatch", sent=sent)
    yield delivery("a body that was parsed and written again", "signature_mismatch", body=formatted(BODY), sent=BODY)
    yield delivery("an empty body", "signature_mismatch", sent="")
    alone = "sha256=" + hmac(SECRET, BODY).hex()
    yield delivery("the signature of the body alone", "signature_mismatch", **with_header("Signature", alone))
    moment = signature(timestamp=str(NOW - 1))
    yield delivery("the signature of another moment", "signature_mismatch", **with_header("Signature", moment))
    moved = signature(timestamp=f"{NOW}.{BODY[:5]}", body=BODY[5:])
    yield delivery("a timestamp whose dot has moved", "signature_mismatch", **with_header("Signature", moved))
    yield delivery("a timestamp that is signed without its zeros", "signature_mismatch", **with_header("Timestamp", f"0{NOW}"))


def signed_bodies_that_are_no_deliveries():
    for why, text in {
        "no JSON": "{",
        "an empty text": "",
        "an array": "[]",
        "a null": "null",
        "a number": "7",
        "no event": '{"runId":"run_1"}',
        "an event that is an array": body_of([]),
        "an event that is null": body_of(None),
        "no run": body_of(runId=LEFT_OUT),
        "a run that is a number": body_of(runId=1),
        "an empty run": body_of(runId=""),
        "a workspace that is null": body_of(workspaceId=None),
        "an empty workspace": body_of(workspaceId=""),
        "another run in the event": event_body(runId="run_2"),
        "no type": event_body(type=LEFT_OUT),
        "a type that is null": event_body(type=None),
        "an empty timestamp": event_body(timestamp=""),
        "a sequence that is a text": event_body(sequence="3"),
        "a sequence that is true": event_body(sequence=True),
        "a sequence that is null": event_body(sequence=None),
        "no sequence": event_body(sequence=LEFT_OUT),
        "a sequence with a fraction": event_body(sequence=3.5),
        "a sequence beyond whole numbers": event_body(sequence=2**53),
        "a sequence beyond every double": BODY.replace(":3,", ":1e400,"),
        "a sequence of 5000 digits": BODY.replace(":3,", f":{'1' * 5000},"),
        "a sequence with a leading zero": BODY.replace(":3,", ":03,"),
        "a sequence with a sign": BODY.replace(":3,", ":+3,"),
        "no timestamp": event_body(timestamp=LEFT_OUT),
        "no payload": event_body(payload=LEFT_OUT),
        "a payload that is NaN": BODY.replace("{}", "NaN"),
        "a payload that is Infinity": BODY.replace("{}", "-Infinity"),
        "members in another letter case": BODY.replace('"runId"', '"RunId"'),
        "a member that is repeated, with a wrong last value": BODY[:-1] + ',"runId":7}',
        "a comma too many": BODY[:-1] + ",}",
        "single quotes": BODY.replace('"', "'"),
        "a comment": BODY + "/* signed */",
        "a second text": BODY + BODY,
        "a line break in a text": BODY.replace("run_1", "run\n1"),
        "a byte order mark": "\ufeff" + BODY,
        "a no-break space after it": BODY + "\u00a0",
    }.items():
        yield delivery(f"well signed, with {why}", "malformed_body", body=text)
    yield delivery("well signed, in Latin-1", "malformed_body", body=event_body(payload="é").encode("latin-1"))
    yield delivery("well signed, in UTF-16", "malformed_body", body=BODY.encode("utf-16"))
    overlong = octets(BODY).replace(b"{}", b'"\xc0\xaf"')
    yield delivery("well signed, with an overlong encoding", "malformed_body", body=overlong)
    surrogate = octets(BODY).replace(b"{}", b'"\xed\xa0\x80"')
    yield delivery("well signed, with an encoded surrogate", "malformed_body", body=surrogate)
    yield delivery("well signed, of another event type", "event_type_mismatch", body=event_body(type="run.failed"))
    upper = with_header("Event-Type", "Run.Completed")
    yield delivery("well signed, with a type in another letter case", "event_type_mismatch", **upper)


# ── standard-webhooks.json: messages of Standard Webhooks ──

KEY = bytes.fromhex(SECRET)
ROTATED = bytes.fromhex(OLDER)


def as_secret(key):
    return "whsec_" + base64_of(key)


def digest(key, message_id, timestamp, text):
    return base64_of(hmac(key, octets(f"{message_id}.{timestamp}.") + octets(text)))


def standard_headers(keys, message_id, timestamp, text, family="webhook"):
    signatures = " ".join("v1," + digest(key, message_id, timestamp, text) for key in keys)
    return {f"{family}-id": message_id, f"{family}-timestamp": timestamp, f"{family}-signature": signatures}


def message(
    why, outcome, keys=[KEY], secrets=[as_secret(KEY)], message_id="msg_1", timestamp=str(NOW), text='{"a":1}',
    listed=None, sent=None, family="webhook", change={}, options=None,
):  # fmt: skip
    headers = standard_headers(keys, message_id, timestamp, text, family)
    if listed is not None:
        headers[f"{family}-signature"] = listed
    return case(why, outcome, secrets, NOW, changed(headers, change), text if sent is None else sent, options)


ONE = "v1," + digest(KEY, "msg_1", NOW, '{"a":1}')
OTHER = "v1," + "A" * 43 + "="


def messages():
    yield message("one signature", "accepted")
    yield message("two signatures while the sender rotates", "accepted", keys=[ROTATED, KEY])
    yield message("the older of two secrets", "accepted", keys=[ROTATED], secrets=[as_secret(KEY), as_secret(ROTATED)])
    yield message("a signature of another version besides", "accepted", listed=f"v1a,{'A' * 86}== {ONE}")
    yield message("a key of 24 bytes", "accepted", keys=[KEY[8:]], secrets=[as_secret(KEY[8:])])
    yield message("a key of 64 bytes", "accepted", keys=[KEY + ROTATED], secrets=[as_secret(KEY + ROTATED)])
    yield message("300 seconds ago", "accepted", timestamp=str(NOW - 300))
    yield message("300 seconds ahead", "accepted", timestamp=str(NOW + 300))
    yield message("names in upper case", "accepted", change={
        "webhook-id": LEFT_OUT, "webhook-timestamp": LEFT_OUT, "webhook-signature": LEFT_OUT,
        "WEBHOOK-ID": "msg_1", "WEBHOOK-TIMESTAMP": str(NOW), "WEBHOOK-SIGNATURE": ONE,
    })  # fmt: skip
    yield message("signatures that a platform has joined by a comma", "accepted", listed=f"{OTHER}, {ONE}")
    yield message("signatures between several spaces", "accepted", listed=f"  {OTHER}   {ONE} ")
    yield message("a repeated signature header", "accepted", listed=[OTHER, ONE])
    yield message("a repeated id with the same value", "accepted", change={"webhook-id": ["msg_1", "msg_1"]})
    yield message("20 signatures", "accepted", listed=" ".join([OTHER] * 19 + [ONE]))
    yield message("a body outside ASCII", "accepted", text='{"text":"ünïcödé ☃ 𝒳"}')
    yield message("a body that is a number", "accepted", text="7")
    yield message("a body that is null", "accepted", text=" null\n")
    yield message("a timestamp with leading zeros", "accepted", timestamp=f"000{NOW}")
    yield message("svix headers besides, which are not asked for", "accepted", change={"svix-id": "msg_2"})
    yield message("301 seconds ago", "timestamp_out_of_range", timestamp=str(NOW - 301))
    yield message("301 seconds ahead", "timestamp_out_of_range", timestamp=str(NOW + 301))
    for timestamp in (f"{NOW}.0", f"+{NOW}", "NaN", "1" * 16, f"{NOW}\u00a0"):
        yield message(f"the timestamp {shown(timestamp)}", "malformed_timestamp", timestamp=timestamp)
    for name in ("webhook-id", "webhook-timestamp", "webhook-signature"):
        yield message(f"without {name}", "missing_header", change={name: LEFT_OUT})
    yield message("an empty id", "missing_header", change={"webhook-id": ""})
    yield message("two ids", "repeated_header", change={"webhook-id": ["msg_1", "msg_2"]})
    yield message("two timestamps joined by a comma", "repeated_header", change={"webhook-timestamp": f"{NOW}, {NOW + 1}"})
    yield message("another key", "signature_mismatch", keys=[ROTATED])
    yield message("another id", "signature_mismatch", change={"webhook-id": "msg_2"})
    yield message("another timestamp", "signature_mismatch", change={"webhook-timestamp": str(NOW + 1)})
    yield message("another body", "signature_mismatch", sent='{"a":2}')
    yield message("an empty body in place of the signed one", "signature_mismatch", sent="")
    yield message("the text of the secret as the key", "signature_mismatch", keys=[as_secret(KEY)])
    yield message("a signature with other unused bits", "signature_mismatch", listed=ONE[:-2] + next_digit(ONE[-2]) + "=")
    yield message("no signature of v1", "malformed_signature", listed=ONE.replace("v1,", "v2,"))
    yield message("a version in upper case", "malformed_signature", listed=ONE.replace("v1,", "V1,"))
    yield message("a signature without its version", "malformed_signature", listed=ONE[3:])
    yield message("an empty signature", "malformed_signature", listed="")
    yield message("a signature in hexadecimal", "malformed_signature", listed="v1," + "0" * 64)
    yield message("a signature in base64url", "malformed_signature", listed="v1," + "-_" * 21 + "A=")
    yield message("a signature without its padding", "malformed_signature", listed=ONE[:-1])
    yield message("a signature with two paddings", "malformed_signature", listed=ONE + "=")
    yield message("a signature with a line break", "malformed_signature", listed=ONE + "\n")
    yield message("more signatures than a rotation has", "malformed_signature", listed=" ".join([ONE] * 21))
    yield message("an id with a dot", "malformed_signature", message_id="msg.1")
    old = str(NOW - 86_400)
    moved = {"webhook-id": f"msg_1.{old}", "webhook-timestamp": str(NOW)}
    replayed = "an old message whose body begins with a time, replayed with its old time in the id"
    yield message(replayed, "malformed_signature", timestamp=old, text=f"{NOW}.7", sent="7", change=moved)
    yield message("a body that is no JSON", "malformed_body", text="{")
    yield message("an empty body", "malformed_body", text="")
    yield message("a body that is NaN", "malformed_body", text="NaN")
    yield message("a body that is not UTF-8", "malformed_body", text=b'"\xff"')
    svix = {"family": "svix"}
    yield message("svix headers where they are asked for", "accepted", **svix, options={"families": ["svix"]})
    both = {"options": {"families": ["webhook", "svix"]}}
    yield message("svix headers where both families are asked for", "accepted", **svix, **both)
    yield message("webhook headers where both families are asked for", "accepted", **both)
    yield message("svix headers where they are not asked for", "missing_header", **svix)
    yield message("webhook headers where svix is asked for", "missing_header", options={"families": ["svix"]})
    extra = {"svix-id": "msg_1", "svix-timestamp": str(NOW), "svix-signature": ONE}
    yield message("the headers of both families", "header_mismatch", change=extra, **both)
    yield message("one header of the other family", "header_mismatch", change={"svix-id": "msg_1"}, **both)
    bare = {"secrets": [base64_of(KEY)], "options": {"unprefixedSecret": True}}
    yield message("a secret without whsec_ where it is asked for", "accepted", **bare)
    yield message("a secret with whsec_ where it may be absent", "accepted", options={"unprefixedSecret": True})


def next_digit(digit):
    """The base64 digit whose two last bits, which encode nothing at the end of 32 bytes, are others."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    return alphabet[alphabet.index(digit) ^ 1]


# ── standard-deliveries.json: deliveries of a subscription that is signed by Standard Webhooks ──

OWN = [["SVC-Webhook-Id", "whk_1"], ["SVC-Event-Type", TYPE]]
OLD_OWN = [["X-svc-Webhook-Id", "whk_1"], ["X-svc-Event-Type", TYPE]]


def standard_delivery(why, outcome, text=BODY, own=OWN, sent=None, options=None, answer=None):
    signed = [list(pair) for pair in standard_headers([KEY], "msg_1", str(NOW), text).items()]
    body = text if sent is None else sent
    return case(why, outcome, [as_secret(KEY)], NOW, signed + own, body, options, answer)


def challenge_of(challenge):
    return compact({"type": "svc.webhook.verification", "challenge": challenge})


def standard_deliveries():
    yield standard_delivery("the SVC- headers", "accepted")
    yield standard_delivery("the X-svc- headers", "accepted", own=OLD_OWN)
    yield standard_delivery("both header families in agreement", "accepted", own=OWN + OLD_OWN)
    yield standard_delivery("no event type in the headers", "accepted", own=OWN[:1])
    yield standard_delivery("a v1 signature besides, which is not judged", "accepted", own=OWN + [["SVC-Signature", ZEROS]])
    yield standard_delivery("the only accepted subscription", "accepted", options={"webhookId": "whk_1"})
    yield standard_delivery("no id of a subscription", "missing_header", own=OWN[1:])
    yield standard_delivery("two ids", "repeated_header", own=OWN + [["svc-webhook-id", "whk_2"]])
    yield standard_delivery("ids that differ", "header_mismatch", own=OWN + [["X-svc-Webhook-Id", "whk_2"]])
    yield standard_delivery("types that differ", "header_mismatch", own=OWN + [["X-svc-Event-Type", "run.failed"]])
    yield standard_delivery("another subscription", "webhook_id_mismatch", options={"webhookId": "whk_2"})
    yield standard_delivery("another type in the headers", "event_type_mismatch", own=OWN[:1] + [["SVC-Event-Type", "run.failed"]])
    yield standard_delivery("a body that is no delivery", "malformed_body", text='{"a":1}')
    yield standard_delivery("a body that is no JSON, without an id", "malformed_body", text="{", own=[])
    yield standard_delivery("another body", "signature_mismatch", sent=BODY + " ")
    yield standard_delivery("an empty body", "signature_mismatch", sent="")
    for why, challenge in {"of 16 characters": "a-Z_0189abcdefgh", "of 512 characters": "A" * 512}.items():
        answer = compact({"challenge": challenge})
        yield standard_delivery(f"a challenge {why}", "challenge", text=challenge_of(challenge), own=[], answer=answer)
    bound = {"own": [], "options": {"webhookId": "whk_1"}, "answer": compact({"challenge": "a" * 32})}
    yield standard_delivery("a challenge, before the subscription has an id", "challenge", text=challenge_of("a" * 32), **bound)
    for why, challenge in {
        "of 15 characters": "a" * 15,
        "of 513 characters": "a" * 513,
        "with markup": "<script>alert(1)</script>",
        "with a line break after it": "a" * 32 + "\n",
        "outside ASCII": "é" * 32,
        "that is a number": 1234567890123456,
        "that is null": None,
    }.items():
        yield standard_delivery(f"a challenge {why}", "malformed_body", text=challenge_of(challenge), own=[])
    forged = {"text": challenge_of("a" * 32), "sent": challenge_of("b" * 32), "own": []}
    yield standard_delivery("a challenge that is not signed", "signature_mismatch", **forged)


FILES = {
    "deliveries.json": [
        *accepted_deliveries(),
        *deliveries_of_another_time(),
        *deliveries_with_wrong_headers(),
        *deliveries_with_wrong_signatures(),
        *signed_bodies_that_are_no_deliveries(),
    ],
    "standard-webhooks.json": list(messages()),
    "standard-deliveries.json": list(standard_deliveries()),
}

if __name__ == "__main__":
    is_check = sys.argv[1:] == ["--check"]
    for name, cases in FILES.items():
        content = {"source": SOURCE, "license": "CC0-1.0", "cases": cases}
        text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
        file = FOLDER / name
        if not is_check:
            file.write_text(text, encoding="utf-8")
        elif file.read_text(encoding="utf-8") != text:
            sys.exit(f"{name} is not the file that make.py writes. Run python3 make.py.")
        print(f"{len(cases)} cases in {name}")
