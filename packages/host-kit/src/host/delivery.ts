import { guardedPost } from '@svc/egress-guard/post';
import type { Served } from '@svc/versioning';
import type { HeaderFamily } from '@svc/webhook-verify';
import { untracedTransport } from '../telemetry/attempts.ts';
import { VERSION } from '../version.ts';
import { type Announce, announcing } from '../webhooks/announce.ts';
import { attempt } from '../webhooks/attempt.ts';
import { BYTES_BEYOND_CUT, captured } from '../webhooks/capture.ts';
import { concurrencyOf } from '../webhooks/concurrency.ts';
import { type Dispatcher, dispatcher } from '../webhooks/dispatcher.ts';
import { heldSubscriptions } from '../webhooks/held.ts';
import type { PushFormats } from '../webhooks/push-format.ts';
import { sending } from '../webhooks/send.ts';
import { attemptSigner } from '../webhooks/signing.ts';
import { type SendTest, testDelivery } from '../webhooks/test-delivery.ts';
import { type EndpointVerifier, endpointVerifier } from '../webhooks/verify-endpoint.ts';
import { operationalRenderer } from '../wire/operational-event.ts';
import { webhookIdOf } from '../wire/webhook.ts';
import type { Services } from './services.ts';

/** The parts of a host that send the deliveries of the outbox. */
export interface DeliveryParts {
  readonly dispatcher: Dispatcher;
  readonly endpoints: EndpointVerifier;
  readonly announce: Announce;
  readonly sendTest: SendTest;
  /** Closes idle connections. Call it after the dispatcher has stopped. */
  close(): void;
}

/** @param formats the push formats by name; they may be added until the host starts */
export function assembleDelivery(services: Services, formats: PushFormats): DeliveryParts {
  const { store, clock, storeClock, random, log, observe, secrets, served, webhooks, org, engine, recordAudit } =
    services;
  const { attemptTimeoutMs } = webhooks;
  const { captureRules: capturing } = services;
  const concurrency = concurrencyOf(webhooks.concurrency);
  const transport = services.transport ?? guardedPost({ policy: services.egress });
  const untraced = untracedTransport(transport);
  const ports = { transport: untraced, clock, random, log, userAgent: USER_AGENT };
  const sign = attemptSigner({
    secrets,
    webhookIdOf: (subscription) => webhookIdOf[subscription.major](subscription),
    families: familiesOf(served),
    formats,
  });
  const rules = {
    retryPolicy: webhooks.retryPolicy,
    circuit: webhooks.circuit,
    deadLetterRetentionMs: webhooks.deadLetterRetentionDays * DAY_MS,
    failAfterMs: webhooks.failAfterHours * HOUR_MS,
  };
  const render = operationalRenderer(engine.version);
  const announce = announcing({ store, clock, storeClock, random, org, render });
  const send = sending({ ...ports, sign, attemptTimeoutMs });
  const held = heldSubscriptions();
  const delivering: Dispatcher = dispatcher({
    queue: store.deliveries,
    attempt: observe.observed(
      attempt({
        ...ports,
        store,
        storeClock,
        sign,
        rules,
        stateChanged(before, after) {
          observe.stateChanged(before, after);
          // Others may be told of the change.
          delivering.wake();
        },
        announce,
        attemptTimeoutMs,
        keepFailureBytes: capturing && capturing.maxBytes + BYTES_BEYOND_CUT,
        capture: capturing && ((answer) => captured(secrets, capturing, answer, storeClock.now())),
        held,
      }),
    ),
    clock,
    storeClock,
    log,
    maxDelayMs: webhooks.retryPolicy.maxDelayMs,
    concurrency,
    laneChanged: observe.laneChanged,
    attemptTimeoutMs,
    held,
  });
  return {
    dispatcher: delivering,
    endpoints: endpointVerifier(ports),
    announce,
    sendTest: testDelivery({ store, clock, random, log, recordAudit, org, send, render }),
    close: () => transport.close?.(),
  };
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const USER_AGENT = `svc-webhook-dispatcher/${VERSION}`;

/** A host that serves major 1 sends both header families. A host of major 2 alone sends the `SVC-` headers. */
function familiesOf({ majors }: Served): readonly HeaderFamily[] {
  return majors.has(1) ? ['SVC', 'X-svc'] : ['SVC'];
}
