import { type Channel, type ChannelModel, type ConsumeMessage, connect, type Options } from 'amqplib';
import type { ConsumeOptions, QueueConsumer } from '../../ports/queues.ts';

export type { ConsumeOptions, QueueConsumer, QueueMessage, QueueVerdict } from '../../ports/queues.ts';

/** Options of `amqpQueues`. */
export interface AmqpQueuesOptions {
  /** `amqps://user:password@host/vhost`, or the options of the client. */
  readonly connection: string | Options.Connect;
}

/**
 * Consumes queues of a broker of AMQP 0-9-1, such as RabbitMQ. The operator has declared the queue. Hosts compete for its messages. The
 * broker delivers a message again as soon as its host is gone. It identifies no message: the sender sets `messageId`, or the trigger
 * names a `dedupPointer`. A message without both is a dead letter.
 *
 * @example
 * const consumer = amqpQueues({ connection: 'amqps://svc:secret@mq.example.com/shop' });
 * const grants = [{ tenant: 'acme', queues: ['orders'] }];
 * createHost({ ...options, triggers: { queues: { shop: { consumer, grants } } } });
 */
export function amqpQueues({ connection: options }: AmqpQueuesOptions): QueueConsumer {
  let connecting: Promise<ChannelModel> | undefined;

  return {
    async consume(consuming) {
      const model = await connected();
      const channel = await model.createChannel();
      try {
        await consumed(channel, consuming);
      } finally {
        // A channel whose connection is lost is closed already.
        await channel.close().catch(() => {});
      }
    },
    async close() {
      const open = connecting;
      connecting = undefined;
      const model = await open?.catch(() => undefined);
      await model?.close().catch(() => {});
    },
  };

  /** One connection for all queues. A lost one is replaced by the next call. */
  async function connected(): Promise<ChannelModel> {
    if (connecting !== undefined) {
      const found = await connecting.catch(() => undefined);
      if (found !== undefined) return found;
    }
    const attempt = connect(options, { timeout: 10_000, keepAlive: true });
    connecting = attempt;
    const forget = (): void => {
      if (connecting === attempt) connecting = undefined;
    };
    const model = await attempt.catch((error: unknown) => {
      forget();
      throw error;
    });
    // Without a listener of `error`, a lost connection would end the process. `close` follows it.
    model.on('error', () => {});
    model.on('close', forget);
    return model;
  }
}

/** Delivers messages until the signal aborts, and then resolves when each delivered one has its verdict. */
async function consumed(channel: Channel, { queue, prefetch, signal, receive }: ConsumeOptions): Promise<void> {
  const underWay = new Set<Promise<void>>();
  let isLost = false;
  let cause = 'The channel was closed by the broker.';
  const ended = new Promise<void>((resolve, reject) => {
    channel.on('error', reject);
    channel.on('close', () => {
      isLost = true;
      reject(new Error(cause));
    });
    signal.addEventListener('abort', () => resolve(), { once: true });
    if (signal.aborted) resolve();
  });
  // It rejects below alone.
  ended.catch(() => {});
  try {
    await channel.prefetch(prefetch);
    const { consumerTag } = await channel.consume(queue, (message) => {
      if (message === null) {
        cause = 'The broker cancelled the consumer: the queue was deleted.';
        void channel.close().catch(() => {});
        return;
      }
      const work = settled(message).finally(() => underWay.delete(work));
      underWay.add(work);
    });
    await ended;
    await channel.cancel(consumerTag);
  } finally {
    await Promise.all(underWay);
  }

  async function settled(message: ConsumeMessage): Promise<void> {
    const { messageId } = message.properties;
    const id = typeof messageId === 'string' && messageId !== '' ? messageId : undefined;
    const verdict = await receive({ id, body: message.content });
    // The broker gives the messages of a lost channel to another one.
    if (isLost) return;
    if (verdict === 'acknowledge') channel.ack(message);
    else channel.nack(message, false, true);
  }
}
