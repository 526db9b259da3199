import { type Consumer, type ConsumerMessages, type JsMsg, jetstream } from '@nats-io/jetstream';
import { connect, credsAuthenticator, type NatsConnection } from '@nats-io/transport-node';
import type { ConsumeOptions, QueueConsumer } from '../../ports/queues.ts';

export type { ConsumeOptions, QueueConsumer, QueueMessage, QueueVerdict } from '../../ports/queues.ts';

/** Options of `natsQueues`. */
export interface NatsQueuesOptions {
  /** The host makes a lost connection again by itself. */
  readonly connection: NatsConnectionOptions;
}

/** The servers, and the credentials of the host there. */
export interface NatsConnectionOptions {
  /** `host:port`, `nats://…` or `tls://…`. Of several, the client takes the first one that answers. */
  readonly servers: string | readonly string[];
  /** The name of the host's user at the servers. Goes with `pass`. */
  readonly user?: string;
  /** The password of `user`. */
  readonly pass?: string;
  /** A token, in place of a name and a password. */
  readonly token?: string;
  /** The content of a credentials file (`.creds`): a JWT and its seed. */
  readonly credentials?: Uint8Array;
  /** The paths of files in PEM. Default: TLS where the server asks for it, judged by the authorities of Node. */
  readonly tls?: {
    /** The certificates of the authorities that the servers' certificates are judged by. */
    readonly caFile?: string;
    /** The certificate of the host, for servers that ask for one. Goes with `keyFile`. */
    readonly certFile?: string;
    /** The private key of `certFile`. */
    readonly keyFile?: string;
  };
}

/**
 * Consumes NATS JetStream. A queue is a durable pull consumer of a stream, which the operator has made with explicit
 * acknowledgement; its name is `<stream>/<consumer>`. Hosts compete for its messages. The server delivers a message again when its
 * host gives no verdict within `ack_wait` of the consumer.
 *
 * @example
 * const consumer = natsQueues({ connection: { servers: 'nats://nats.example.com', token } });
 * const grants = [{ tenant: 'acme', queues: ['SHOP/orders'] }];
 * createHost({ ...options, triggers: { queues: { shop: { consumer, grants } } } });
 */
export function natsQueues({ connection: options }: NatsQueuesOptions): QueueConsumer {
  let connecting: Promise<NatsConnection> | undefined;

  return {
    async consume(consuming) {
      const { queue, signal } = consuming;
      const [stream, name, ...others] = queue.split('/');
      if (!stream || !name || others.length > 0)
        throw new Error('The name of a queue of NATS must be <stream>/<consumer>.');
      const connection = await connected();
      const consumer = await jetstream(connection).consumers.get(stream, name);
      while (!signal.aborted) {
        if (connection.isClosed()) throw new Error('The connection to NATS was lost.');
        await deliver(consumer, consuming);
      }
    },
    async close() {
      const open = connecting;
      connecting = undefined;
      await (await open?.catch(() => undefined))?.close();
    },
  };

  /** One connection for all queues. A lost one is replaced by the next call. */
  async function connected(): Promise<NatsConnection> {
    const found = await connecting?.catch(() => undefined);
    if (found !== undefined && !found.isClosed()) return found;
    const { servers, credentials, ...others } = options;
    connecting = connect({
      ...{ timeout: 10_000, pingInterval: 20_000, maxPingOut: 2, reconnect: false, ...others },
      servers: typeof servers === 'string' ? servers : [...servers],
      ...(credentials !== undefined && { authenticator: credsAuthenticator(credentials) }),
    });
    return connecting;
  }
}

/** Delivers up to the prefetch of messages, and resolves when each has its verdict at the server, or none came in time. */
async function deliver(consumer: Consumer, consuming: ConsumeOptions): Promise<void> {
  const { prefetch, signal } = consuming;
  const messages: ConsumerMessages = await consumer.fetch({ max_messages: prefetch, expires: FETCH_MS });
  const stop = (): void => messages.stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    const underWay: Promise<void>[] = [];
    for await (const message of messages) {
      // One that the client had already when the host stopped is left to `ack_wait`, or to another host.
      if (signal.aborted) message.nak();
      else underWay.push(settled(message, consuming));
    }
    await Promise.all(underWay);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

const FETCH_MS = 5000;

async function settled(message: JsMsg, { receive }: ConsumeOptions): Promise<void> {
  const { stream, streamSequence } = message.info;
  // With the time: a stream that is made again counts from 1.
  const id = `${stream}:${streamSequence}:${message.timestampNanos}`;
  const verdict = await receive({ id, body: message.data });
  if (verdict === 'release') message.nak();
  // Resolves when the server has it. One that is lost is delivered again, and is known by then.
  else await message.ackAck();
}
