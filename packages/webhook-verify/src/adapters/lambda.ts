import type { HeaderSource } from '../headers.ts';
import { type OptionNames, requireKnown } from '../known-options.ts';
import { RECEIVE_OPTIONS, type ReceiveOptions, receiverOf } from '../receiver.ts';
import { answerHeaders } from './answer-headers.ts';
import { type BodyLimits, bodyLimits } from './body-limits.ts';

/** The part of an API Gateway event that the handler reads: of a v2 HTTP API, a function URL, or a v1 REST API. */
export interface LambdaEvent {
  /** The headers; a v2 API joins repeats with a comma. */
  readonly headers?: Readonly<Record<string, string | undefined>> | null;
  /** The headers of a v1 API with every repeat. They are read instead of `headers`. */
  readonly multiValueHeaders?: Readonly<Record<string, readonly string[] | undefined>> | null;
  /** The body as text, or as base64. */
  readonly body?: string | null;
  /** Whether `body` is base64. Default false. */
  readonly isBase64Encoded?: boolean;
  /** The method of a v1 request. */
  readonly httpMethod?: string;
  /** The context of the request, with the method of a v2 request. */
  readonly requestContext?: { readonly http?: { readonly method?: string } };
}

/** The result that API Gateway turns into a response. */
export interface LambdaAnswer {
  /** The status of the response. */
  readonly statusCode: number;
  /** The headers of the response. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body of the response; empty or JSON. */
  readonly body: string;
}

/**
 * The options of {@link receiver}. The gateway limits the time for reading a body. A function for the secret gets
 * the event.
 */
export interface LambdaReceiverOptions extends ReceiveOptions<[event: LambdaEvent]>, Pick<BodyLimits, 'maxBodyBytes'> {}

/** The names of {@link LambdaReceiverOptions}. */
const LAMBDA_OPTIONS: OptionNames<LambdaReceiverOptions> = { ...RECEIVE_OPTIONS, maxBodyBytes: true };

/**
 * Makes a receiver for AWS Lambda behind API Gateway or a function URL. The gateway has already read the body.
 *
 * @returns a handler of the function
 * @throws {TypeError} when an option is invalid
 * @example
 * import { receiver } from '@svc/webhook-verify/lambda';
 *
 * const secret = process.env.WEBHOOK_SECRET;
 * export const handler = receiver({ secret, onDelivery: ({ eventType }) => console.log(eventType) });
 */
export function receiver(options: LambdaReceiverOptions): (event: LambdaEvent) => Promise<LambdaAnswer> {
  requireKnown('receiver', options, LAMBDA_OPTIONS);
  const { maxBodyBytes } = bodyLimits(options);
  const handle = receiverOf(options);

  return async (event) => {
    const method = event.requestContext?.http?.method ?? event.httpMethod;
    if (method !== 'POST') return { statusCode: 405, headers: { allow: 'POST' }, body: '' };
    const text = event.body ?? '';
    // Base64 is a third longer than its bytes, and UTF-8 never has fewer bytes than characters: no decoding is needed
    // here.
    if (text.length > (event.isBase64Encoded ? Math.ceil(maxBodyBytes / 3) * 4 : maxBodyBytes)) return empty(413);
    const read = event.isBase64Encoded ? base64Bytes(text) : utf8.encode(text);
    if (read === undefined) return empty(400);
    if (read.length > maxBodyBytes) return empty(413);
    const answer = await handle(read, headersOf(event), event);
    return { statusCode: answer.status, headers: answerHeaders(answer), body: answer.body ?? '' };
  };
}

/** Prefers the form that keeps repeats: a repeated header with different values must be rejected. */
function headersOf({ multiValueHeaders, headers }: LambdaEvent): HeaderSource {
  return multiValueHeaders ?? headers ?? {};
}

function empty(statusCode: number): LambdaAnswer {
  return { statusCode, headers: {}, body: '' };
}

function base64Bytes(text: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

const utf8 = new TextEncoder();
