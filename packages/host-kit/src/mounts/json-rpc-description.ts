import { z } from 'zod';
import { type AnswerDescription, eventStream, json, type MountDescription } from '../http/description.ts';

const REQUEST = z
  .looseObject({
    jsonrpc: z.literal('2.0'),
    id: z.union([z.string(), z.number()]).optional().describe('Absent in a notification.'),
    method: z.string(),
    params: z.looseObject({}).optional(),
  })
  .meta({ id: 'JsonRpcRequest' });

const RESPONSE = z
  .looseObject({ jsonrpc: z.literal('2.0'), id: z.union([z.string(), z.number()]).nullable() })
  .meta({ id: 'JsonRpcResponse' });

const ONE = json('The JSON-RPC response, or a stream of responses.', RESPONSE, { headers: ['Cache-Control'] });

/** A JSON-RPC response, or a stream of them. */
const RESPONSES: AnswerDescription = { ...ONE, content: { ...ONE.content, ...eventStream('', RESPONSE).content } };

/** An error of the protocol that has an HTTP status of its own. */
export function rpcFailure(description: string): AnswerDescription {
  return json(description, RESPONSE);
}

/** Describes an endpoint of JSON-RPC 2.0 whose methods another protocol defines. */
export function jsonRpcDescription(
  entry: Pick<MountDescription, 'operationId' | 'summary' | 'description' | 'headers' | 'answers'>,
): MountDescription {
  return { ...entry, body: REQUEST, answers: { 200: RESPONSES, ...entry.answers } };
}
