import type { AttemptPhase } from '../ports/attempts.ts';
import type { Delivery } from '../ports/deliveries.ts';
import type { HostPorts } from '../ports/host-ports.ts';
import { describeError } from '../ports/log.ts';
import type { Subscription } from '../ports/subscriptions.ts';
import type { Transport, TransportVerdict } from '../ports/transport.ts';
import { originOf } from './attempt-result.ts';
import { phaseClock } from './phases.ts';
import type { SignAttempt } from './signing.ts';

/** Signs a delivery and posts it to its subscription. Rejects only when `signal` aborted it. */
export type Send = (delivery: Sendable, subscription: Subscription, signal: AbortSignal) => Promise<Sent>;

/** The part of a delivery that is sent. */
export type Sendable = Pick<Delivery, 'deliveryId' | 'eventType' | 'body'>;

/** The two steps of `Send`. */
export interface Sender {
  /** Returns the headers of an attempt; undefined when the host cannot open the secret, which is logged. */
  sign(delivery: Sendable, subscription: Subscription): Signature | undefined;
  /** Posts a delivery. Rejects only when `signal` aborted it. */
  post(delivery: Sendable, subscription: Subscription, signature: Signature, signal: AbortSignal): Promise<Sent>;
}

/** The headers that sign or authenticate one attempt. */
export type Signature = Readonly<Record<string, string>>;

/** The outcome of a request, and its phases. */
export interface Sent {
  readonly verdict: TransportVerdict;
  readonly phases: readonly AttemptPhase[];
}

export interface SendOptions extends Pick<HostPorts, 'clock' | 'log'> {
  readonly transport: Transport;
  readonly sign: SignAttempt;
  /** How long the receiver may take to answer, in ms. */
  readonly attemptTimeoutMs: number;
  /** The `User-Agent` header. */
  readonly userAgent: string;
  /** The most bytes of a failing receiver's answer that the verdict contains. Default: none. */
  readonly keepFailureBytes?: number | undefined;
}

/** Sends without a queue. A delivery that cannot be signed gets the verdict `unsigned`. */
export function sending(options: SendOptions): Send {
  const { sign, post } = sender(options);
  return async (delivery, subscription, signal) => {
    const signature = sign(delivery, subscription);
    return signature === undefined ? UNSIGNED : post(delivery, subscription, signature, signal);
  };
}

/** The outcome of a delivery that was not sent, because the host could not open a secret. */
export const UNSIGNED: Sent = { verdict: { kind: 'failed', reason: 'unsigned', durationMs: 0 }, phases: [] };

export function sender(options: SendOptions): Sender {
  const { transport, sign, clock, log, attemptTimeoutMs, userAgent, keepFailureBytes } = options;
  return { sign: signed, post };

  function signed(delivery: Sendable, subscription: Subscription): Signature | undefined {
    try {
      return sign(delivery, subscription, clock.now());
    } catch (error) {
      const { webhookId, url } = subscription;
      const destination = originOf(url);
      log({ level: 'error', event: 'delivery.not-signed', webhookId, destination, ...describeError(error) });
      return undefined;
    }
  }

  /** Counts a throwing transport as a failed attempt: it may have sent the request before it threw. */
  async function post(
    { deliveryId, body }: Sendable,
    { webhookId, url, durable }: Subscription,
    signature: Signature,
    signal: AbortSignal,
  ): Promise<Sent> {
    const startedAt = clock.monotonic();
    const phases = phaseClock(() => clock.monotonic());
    const headers = { 'content-type': 'application/json', 'user-agent': userAgent, ...signature };
    const kept = keepFailureBytes === undefined ? {} : { keepFailureBytes };
    const request = { url, headers, body, timeoutMs: attemptTimeoutMs, signal, onPhase: phases.begin, ...kept };
    try {
      const verdict = await transport(durable ? request : { ...request, once: 'kept' });
      return { verdict, phases: phases.end() };
    } catch (error) {
      signal.throwIfAborted();
      const destination = originOf(url);
      const event = 'delivery.transport-failed';
      log({ level: 'error', event, deliveryId, webhookId, destination, ...describeError(error) });
      const verdict = { kind: 'failed', reason: 'transport', durationMs: clock.monotonic() - startedAt } as const;
      return { verdict, phases: phases.end() };
    }
  }
}
