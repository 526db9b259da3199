import type { AttemptPhase } from '../ports/attempts.ts';
import type { Delivery } from '../ports/deliveries.ts';
import type { HostPorts } from '../ports/host-ports.ts';
import { describeError } from '../ports/log.ts';
import type { Subscription } from '../ports/subscriptions.ts';
import type { Transport, TransportVerdict } from '../ports/transport.ts';
import { phaseClock } from './phases.ts';
import type { SignAttempt } from './signing.ts';

/** Signs a delivery and posts it to its subscription. Rejects only when `signal` aborted it. */
export type Send = (
  delivery: Pick<Delivery, 'deliveryId' | 'eventType' | 'body'>,
  subscription: Subscription,
  signal: AbortSignal,
) => Promise<Sent>;

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
}

/**
 * The verdict on a delivery that was not sent, because the host could not open a secret. It is retried and
 * dead-lettered like any other failure.
 */
export const UNSIGNED: TransportVerdict = { kind: 'failed', reason: 'unsigned', durationMs: 0 };

export function sender({ transport, sign, clock, log, attemptTimeoutMs, userAgent }: SendOptions): Send {
  return (delivery, subscription, signal) => {
    const signature = signed(delivery, subscription);
    if (signature === undefined) return Promise.resolve({ verdict: UNSIGNED, phases: [] });
    return post(delivery, subscription, signature, signal);
  };

  function signed(delivery: Parameters<Send>[0], subscription: Subscription): Record<string, string> | undefined {
    try {
      return sign(delivery, subscription, clock.now());
    } catch (error) {
      const { webhookId } = subscription;
      log({ level: 'error', event: 'delivery.not-signed', webhookId, ...describeError(error) });
      return undefined;
    }
  }

  /** Counts a throwing transport as a failed attempt: it may have sent the request before it threw. */
  async function post(
    { deliveryId, body }: Parameters<Send>[0],
    { url, durable }: Subscription,
    signature: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Sent> {
    const startedAt = clock.now();
    const phases = phaseClock();
    const headers = { 'content-type': 'application/json', 'user-agent': userAgent, ...signature };
    const request = { url, headers, body, timeoutMs: attemptTimeoutMs, signal, onPhase: phases.begin };
    try {
      const verdict = await transport(durable ? request : { ...request, once: 'kept' });
      return { verdict, phases: phases.end() };
    } catch (error) {
      signal.throwIfAborted();
      log({ level: 'error', event: 'delivery.transport-failed', deliveryId, ...describeError(error) });
      const verdict = { kind: 'failed', reason: 'transport', durationMs: clock.now() - startedAt } as const;
      return { verdict, phases: phases.end() };
    }
  }
}
