import type { HeaderSource } from '../index.ts';
import { type ReceiveOptions, receive } from '../receive.ts';
import { type BodyLimits, bodyLimits } from './body-limits.ts';

/** What is needed of an API Gateway event: of a v2 HTTP API, of a function URL, or of a v1 REST API. */
export interface LambdaEvent {
  readonly headers?: Readonly<Record<string, string | undefined>> | null;
  readonly multiValueHeaders?: Readonly<Record<string, readonly string[] | undefined>> | null;
  readonly body?: string | null;
  readonly isBase64Encoded?: boolean;
  readonly httpMethod?: string;
  readonly requestContext?: { readonly http?: { readonly method?: string } };
}

export interface LambdaAnswer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface LambdaReceiverOptions extends ReceiveOptions, Pick<BodyLimits, 'maxBodyBytes'> {}

/**
 * A receiver for AWS Lambda behind API Gateway or a function URL. The gateway has read the body already, within its own deadline.
 *
 * @throws {TypeError} for options that are wrong
 * @example
 * export const handler = toLambdaHandler({ secret: process.env.WEBHOOK_SECRET, onDelivery: (delivery) => { … } });
 */
export function toLambdaHandler(options: LambdaReceiverOptions): (event: LambdaEvent) => Promise<LambdaAnswer> {
  const { maxBodyBytes } = bodyLimits(options);
  const handle = receive(options);

  return async (event) => {
    const method = event.requestContext?.http?.method ?? event.httpMethod;
    if (method !== 'POST') return { statusCode: 405, headers: { allow: 'POST' }, body: '' };
    const text = event.body ?? '';
    // Base64 is a third longer than what it stands for, and no text is longer than its bytes.
    if (text.length > (event.isBase64Encoded ? Math.ceil(maxBodyBytes / 3) * 4 : maxBodyBytes)) return empty(413);
    const read = event.isBase64Encoded ? base64Bytes(text) : utf8.encode(text);
    if (read === undefined) return empty(400);
    if (read.length > maxBodyBytes) return empty(413);
    const { status, body } = await handle(read, headersOf(event));
    if (body === undefined) return empty(status);
    return { statusCode: status, headers: { 'content-type': 'application/json' }, body };
  };
}

/** The form that has kept repeats, where there is one. */
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
