import type { IncomingMessage } from 'node:http';
import type { OptionNames } from '../known-options.ts';
import { RECEIVE_OPTIONS, type ReceiveOptions } from '../receiver.ts';
import { BODY_LIMITS, type BodyLimits } from './body-limits.ts';

/**
 * The options of `receiver` of `./node`, and with another request those of `./express` and `./fastify`. A function for
 * the secret gets the request, whose body it must not read.
 */
export interface NodeReceiverOptions<Request = IncomingMessage>
  extends ReceiveOptions<[request: Request]>,
    BodyLimits {}

/** The names of {@link NodeReceiverOptions}. */
export const NODE_RECEIVER_OPTIONS: OptionNames<NodeReceiverOptions> = { ...RECEIVE_OPTIONS, ...BODY_LIMITS };
