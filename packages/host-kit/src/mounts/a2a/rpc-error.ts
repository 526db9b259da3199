import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import { A2AError } from '@a2a-js/sdk/errors';
import { JsonRpcTransportHandler } from '@a2a-js/sdk/server';
import type { RefusedRequest } from '../../http/refusal.ts';
import type { JsonObject } from '../../json.ts';
import { jsonRpcError, SERVER_ERROR } from '../json-rpc.ts';
import type { A2aVersion } from './agent-card.ts';

/**
 * The JSON-RPC response to an error of a method. An error of A2A has the code of its version. Any other error is one of
 * the host: its code and its public message are sent, and nothing else of it.
 *
 * @param refusalOf logs an unexpected error
 */
export function errorResponse(
  version: A2aVersion,
  id: unknown,
  error: unknown,
  refusalOf: (error: unknown) => RefusedRequest,
): JsonObject {
  if (error instanceof A2AError) {
    const { code, message, data } = BODY_OF[version](error);
    return jsonRpcError(id, code, message, data === undefined ? undefined : JSON.parse(JSON.stringify(data)));
  }
  const { code, message } = refusalOf(error);
  return jsonRpcError(id, CODE_OF[code] ?? SERVER_ERROR, message, { error: code });
}

type ErrorBody = { readonly code: number; readonly message: string; readonly data?: unknown };

const BODY_OF: Readonly<Record<A2aVersion, (error: unknown) => ErrorBody>> = {
  '1.0': (error) => JsonRpcTransportHandler.mapToJSONRPCError(error),
  '0.3': (error) => LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError(error),
};

/** The JSON-RPC codes of the host's own errors. All others have `SERVER_ERROR`. */
const CODE_OF: Readonly<Record<string, number>> = {
  validation_error: -32602,
  webhook_url_rejected: -32602,
  internal_error: -32603,
};
