import type { Clock } from './clock.ts';

/** A message of a queue, as a broker delivers it. */
export interface QueueMessage {
  /**
   * The identity of the message in its queue: the same at each delivery of it, and that of no other message. Undefined: the broker
   * and the sender gave it none.
   */
  readonly id: string | undefined;
  /** The content. Of one that is larger than `maxBytes`, the first `maxBytes` + 1 bytes are enough. */
  readonly body: Uint8Array;
}

/**
 * The end of a delivery. `acknowledge`: the message is durable at the host, and the broker forgets it. `release`: the broker delivers
 * it again, to this host or another one.
 */
export type QueueVerdict = 'acknowledge' | 'release';

/** The queue that a host consumes, and its limits. */
export interface ConsumeOptions {
  /** The name of the queue at the broker. */
  readonly queue: string;
  /** The most messages that are delivered and have no verdict yet. */
  readonly prefetch: number;
  /** The largest content that the host takes, in bytes. */
  readonly maxBytes: number;
  /** Aborts when the host consumes no more. */
  readonly signal: AbortSignal;
  /** The source of timers. */
  readonly clock: Pick<Clock, 'after'>;
  /** Takes a message, and resolves with its verdict. It never rejects. */
  readonly receive: (message: QueueMessage) => Promise<QueueVerdict>;
}

/**
 * Consumes queues of one broker. Hosts that share a store each have a consumer of the same broker, which delivers each message to one
 * of them. A message whose host ended without a verdict is delivered again.
 *
 * @example
 * // A broker of your own: `next` waits for a message, and `settle` tells the broker the verdict.
 * const consumer: QueueConsumer = {
 *   async consume({ queue, signal, receive }) {
 *     while (!signal.aborted) {
 *       const message = await broker.next(queue, signal);
 *       if (message !== undefined) await broker.settle(message, await receive(message));
 *     }
 *   },
 *   close: () => broker.close(),
 * };
 */
export interface QueueConsumer {
  /**
   * Delivers the messages of a queue until `signal` aborts. Then it takes no further message, and resolves when each delivered one has
   * its verdict at the broker.
   *
   * @throws {Error} when the connection is lost or the queue does not exist. The host calls it again after a pause
   */
  consume(options: ConsumeOptions): Promise<void>;
  /** Closes the connection. Called once, after every `consume` has ended, or after a limit of time. */
  close(): Promise<void>;
}

/** The queues of a connection that a tenant may consume. */
export interface QueueGrant {
  readonly tenant: string;
  /** The mode of its triggers. Default `live`: triggers of test keys do not take live messages. */
  readonly mode?: 'live' | 'test';
  /** The names of the queues. */
  readonly queues: readonly string[];
}

/** A connection to a broker that the operator of the host configures. Triggers know its name alone. */
export interface QueueConnection {
  /** The host closes it when it stops. */
  readonly consumer: QueueConsumer;
  /** The queues that tenants may consume. A queue that no grant names is refused. A queue is granted once. */
  readonly grants: readonly QueueGrant[];
  /** The most messages of one queue that one host works on at once: 1 to 1000. Default 10. */
  readonly prefetch?: number;
}
