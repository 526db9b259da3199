"""Holds svc_webhook.py to the vectors: `python3 -m unittest`. SVC_VECTORS names another folder of vectors."""

import base64
import json
import os
import pathlib
import unittest

from svc_webhook import (
    CODES, Challenge, MemoryDedupStore, Receiver, StandardVerifier, StandardWebhook, VerificationError, Webhook,
)  # fmt: skip

HERE = pathlib.Path(__file__).resolve().parent
VECTORS = pathlib.Path(os.environ.get("SVC_VECTORS", HERE / "../../packages/webhook-verify/vectors"))
VERIFIERS = {
    "deliveries.json": Webhook,
    "standard-webhooks.json": StandardWebhook,
    "standard-deliveries.json": StandardVerifier,
}
OPTIONS = {
    "toleranceSeconds": "tolerance_seconds",
    "webhookId": "webhook_id",
    "families": "families",
    "unprefixedSecret": "unprefixed_secret",
}
ALL = {file: json.loads((VECTORS / file).read_text(encoding="utf-8"))["cases"] for file in VERIFIERS}


def verify(file, case):
    options = {OPTIONS[name]: value for name, value in case.get("options", {}).items()}
    verifier = VERIFIERS[file](case["secrets"], now=lambda: case["now"], **options)
    return verifier.verify(base64.b64decode(case["body"]), case["headers"])


def outcome_of(file, case):
    try:
        verified = verify(file, case)
    except VerificationError as error:
        return error.code, error.status
    return ("challenge" if isinstance(verified, Challenge) else "accepted"), 200


class Vectors(unittest.TestCase):
    def test_every_code_has_a_vector(self):
        self.assertEqual(set(CODES), {case["outcome"] for case in ALL["deliveries.json"]} - {"accepted"})


for file, cases in ALL.items():
    for index, case in enumerate(cases):

        def test(self, file=file, case=case):
            self.assertEqual(outcome_of(file, case), (case["outcome"], case["status"]))
            if case["outcome"] == "challenge":
                receiver = Receiver(Fixed(verify(file, case)), on_delivery=self.fail)
                self.assertEqual(receiver.handle(b"", []).body.decode(), case["answer"])

        test.__doc__ = f"{file}: {case['why']}"
        setattr(Vectors, f"test_{file.partition('.')[0]}_{index:03}", test)


class Fixed:
    def __init__(self, verified):
        self.verified = verified

    def verify(self, body, headers):
        return self.verified


FIRST = ALL["deliveries.json"][0]


class Clock:
    def __init__(self, seconds=0):
        self.seconds = seconds

    def __call__(self):
        return self.seconds


class Receiving(unittest.TestCase):
    def setUp(self):
        self.errors = []
        self.handled = []

    def receiver(self, on_delivery=None, **options):
        return Receiver(
            Webhook(FIRST["secrets"], now=lambda: FIRST["now"]),
            on_delivery or self.handled.append,
            on_rejected=self.errors.append,
            on_failed=lambda error, delivery: self.errors.append(error),
            **options,
        )

    def send(self, receiver, change=b""):
        return receiver.handle(base64.b64decode(FIRST["body"]) + change, FIRST["headers"]).status

    def test_handles_an_event_once(self):
        receiver = self.receiver(dedup=MemoryDedupStore())
        self.assertEqual([self.send(receiver), self.send(receiver)], [200, 200])
        self.assertEqual([delivery.key for delivery in self.handled], ['["whk_1","run_1",3]'])

    def test_refuses_a_changed_body(self):
        self.assertEqual(self.send(self.receiver(), b" "), 401)
        self.assertEqual([error.code for error in self.errors], ["signature_mismatch"])

    def test_runs_a_failed_handler_again(self):
        attempts = []

        def fail_once(delivery):
            attempts.append(delivery)
            if len(attempts) == 1:
                raise RuntimeError("once")

        receiver = self.receiver(fail_once, dedup=MemoryDedupStore())
        self.assertEqual([self.send(receiver) for _ in range(3)], [500, 200, 200])
        self.assertEqual(len(attempts), 2)

    def test_answers_409_while_the_same_event_is_handled(self):
        answers = []
        receiver = self.receiver(lambda delivery: answers.append(self.send(receiver)), dedup=MemoryDedupStore())
        self.assertEqual((self.send(receiver), answers), (200, [409]))

    def test_answers_500_when_the_store_fails_to_claim(self):
        receiver = self.receiver(dedup=object())
        self.assertEqual((self.send(receiver), self.handled), (500, []))

    def test_ignores_the_errors_of_observers(self):
        receiver = Receiver(Webhook("other"), self.handled.append, on_rejected=lambda error: 1 / 0)
        self.assertEqual(self.send(receiver), 401)

    def test_raises_for_a_body_that_is_not_raw(self):
        for body in ("{}", {}, None):
            with self.assertRaisesRegex(TypeError, "raw bytes"):
                self.receiver().handle(body, FIRST["headers"])


class Dedup(unittest.TestCase):
    def setUp(self):
        self.clock = Clock()
        self.store = MemoryDedupStore(capacity=2, ttl_seconds=1000, claim_seconds=10, now=self.clock)

    def states(self, *keys):
        return [self.store.claim(key).state for key in keys]

    def test_remembers_a_confirmed_key_for_its_time(self):
        self.store.confirm("a", self.store.claim("a").token)
        self.clock.seconds = 999
        self.assertEqual(self.states("a"), ["handled"])
        self.clock.seconds = 1000
        self.assertEqual(self.states("a"), ["claimed"])

    def test_frees_a_released_key(self):
        self.store.release("a", self.store.claim("a").token)
        self.assertEqual(self.states("a", "a"), ["claimed", "in-flight"])

    def test_lets_an_expired_claim_be_taken_and_ignores_its_first_owner(self):
        first = self.store.claim("a")
        self.clock.seconds = 10
        self.assertEqual(self.states("a"), ["claimed"])
        self.store.release("a", first.token)
        self.store.confirm("a", first.token)
        self.assertEqual(self.states("a"), ["in-flight"])

    def test_forgets_the_oldest_beyond_its_capacity(self):
        for key in "abc":
            self.store.confirm(key, self.store.claim(key).token)
        self.assertEqual(self.states("b", "c", "a"), ["handled", "handled", "claimed"])


class Options(unittest.TestCase):
    def test_raise_without_repeating_a_secret(self):
        for make in (
            lambda: Webhook(""),
            lambda: Webhook([]),
            lambda: Webhook(None),
            lambda: Webhook(["good", ""]),
            lambda: Webhook("hunter2\n"),
            lambda: Webhook("s", tolerance_seconds=0),
            lambda: Webhook("s", tolerance_seconds=float("inf")),
            lambda: Webhook("s", tolerance_seconds=float("nan")),
            lambda: StandardWebhook("hunter2"),
            lambda: StandardWebhook(base64.b64encode(bytes(32)).decode()),
            lambda: StandardWebhook("whsec_" + base64.b64encode(bytes(23)).decode()),
            lambda: StandardWebhook("whsec_" + base64.b64encode(bytes(65)).decode()),
            lambda: StandardWebhook("whsec_" + base64.b64encode(bytes(32)).decode(), families=[]),
            lambda: StandardWebhook("whsec_" + base64.b64encode(bytes(32)).decode(), families=["svc"]),
            lambda: MemoryDedupStore(capacity=0),
        ):
            with self.assertRaises(ValueError) as raised:
                make()
            self.assertRegex(str(raised.exception), r"^\w+: .*\. .*\.$")
            self.assertNotIn("hunter2", str(raised.exception))

    def test_headers_may_be_bytes_a_mapping_or_lists(self):
        body = base64.b64decode(FIRST["body"])
        webhook = Webhook(FIRST["secrets"], now=lambda: FIRST["now"])
        pairs = FIRST["headers"]
        for headers in (
            dict(pairs),
            {name: [value] for name, value in pairs},
            [(name.encode(), value.encode()) for name, value in pairs],
        ):
            self.assertEqual(webhook.verify(body, headers).run_id, "run_1")
        with self.assertRaisesRegex(TypeError, "headers: must be"):
            webhook.verify(body, "SVC-Signature: x")


if __name__ == "__main__":
    unittest.main()
