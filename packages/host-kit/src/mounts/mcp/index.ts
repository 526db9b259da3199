import { createMcpHandler, type McpRequestContext } from '@modelcontextprotocol/server';
import { type MountCall, mountRoute, type Reply } from '../../http/route.ts';
import { INVALID_REQUEST, jsonRpcError, RPC_CODE, SERVER_ERROR } from '../json-rpc.ts';
import type { MountDefinition, MountServices } from '../mount.ts';
import { MCP_DESCRIPTION } from './description.ts';
import { MCP, REVISIONS } from './revisions.ts';
import { toolServer } from './tools.ts';

/** The options of {@link mcpMount}. */
export interface McpMountOptions {
  /** The time between two reads of a task that the host suggests to clients, in ms. At least 1. Default 1000. */
  readonly pollIntervalMs?: number;
}

/**
 * Serves the operations on runs as the tools of an MCP server, over streamable HTTP without sessions, at
 * `/host/<org>/mcp`. The tools are `create_run`, `read_run`, `cancel_run` and `answer_run`. A host serves MCP only with
 * this mount.
 *
 * A client of the extension `io.modelcontextprotocol/tasks` gets a task for a run that has not ended: `create_run`
 * answers with it, and `tasks/get`, `tasks/update` and `tasks/cancel` read, answer and cancel it. The id of a task is
 * the id of its run, so a task survives the host, and each request is judged by the credential of its caller. A question
 * of the run is an elicitation of the task.
 *
 * @throws {TypeError} when `pollIntervalMs` is not a whole number from 1
 * @example
 * const host = createHost({ ...options, mounts: [mcpMount()] });
 * @see Interface: Endpoints, host-specific mounts; Version axes, 12; MCP Tasks 2026-07-28
 */
export function mcpMount({ pollIntervalMs = 1000 }: McpMountOptions = {}): MountDefinition {
  if (!Number.isSafeInteger(pollIntervalMs) || pollIntervalMs < 1)
    throw new TypeError(
      `pollIntervalMs: ${pollIntervalMs} is not a whole number from 1. Set a number of milliseconds.`,
    );
  return (services) => ({
    name: 'mcp',
    path: '/mcp',
    families: { mcp: MCP },
    routes: (['GET', 'POST', 'DELETE'] as const).map((method) =>
      mountRoute({
        method,
        path: '/mcp',
        takesBody: method === 'POST',
        // Without sessions the server refuses the other methods.
        describes: method === 'POST' ? MCP_DESCRIPTION : 'unlisted',
        refusalBody: ({ code, message }) =>
          jsonRpcError(null, RPC_CODE[code] ?? SERVER_ERROR, message, { error: code }),
        serve: (call) => serve(call, services, pollIntervalMs),
      }),
    ),
  });
}

async function serve(call: MountCall, services: MountServices, pollIntervalMs: number): Promise<Reply> {
  const { request, json } = call;
  // The SDK serves batches of every revision before 2026-07-28, but 2025-06-18 has none any more.
  if (Array.isArray(json)) return { status: 400, body: jsonRpcError(null, INVALID_REQUEST, NO_BATCHES) };
  const { runDays } = services;
  const retentionMs = runDays === undefined ? undefined : runDays * DAY_MS;
  const toolCall = { ...services, caller: call, gone: call.gone(), pollIntervalMs, retentionMs };
  const server = ({ era }: McpRequestContext) => toolServer(toolCall, era);
  const handler = createMcpHandler(server, { onerror: services.refusalOf });
  const response = await handler.fetch(request, json === undefined ? {} : { parsedBody: json });
  const body = response.body ?? undefined;
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    ...(body !== undefined && { body }),
  };
}

const NO_BATCHES = `body: is a JSON-RPC batch, which MCP ${REVISIONS.join(' and ')} do not have. Send each message in a request of its own.`;
const DAY_MS = 86_400_000;
