import type { Json, JsonObject } from '../json.ts';

/**
 * A JSON-RPC error response. An `id` that is neither a string nor a number becomes null.
 *
 * @see JSON-RPC 2.0, section 5.1
 */
export function jsonRpcError(id: unknown, code: number, message: string, data?: Json): JsonObject {
  const validId = typeof id === 'string' || typeof id === 'number' ? id : null;
  return { jsonrpc: '2.0', id: validId, error: { code, message, ...(data !== undefined && { data }) } };
}

export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const SERVER_ERROR = -32000;

/** The JSON-RPC codes of refusals before a method is called. All other refusals have {@link SERVER_ERROR}. */
export const RPC_CODE: Readonly<Record<string, number>> = {
  validation_error: -32700,
  unsupported_media_type: -32700,
  payload_too_large: INVALID_REQUEST,
  internal_error: -32603,
};
