import { createMcpHandler } from '@modelcontextprotocol/server';
import { REFERENCE_INTEROP } from '../../discovery/reference-interop.ts';
import { type MountCall, mountRoute, type Reply } from '../../http/route.ts';
import { jsonRpcError, RPC_CODE, SERVER_ERROR } from '../json-rpc.ts';
import type { MountDefinition, MountServices } from '../mount.ts';
import { MCP_DESCRIPTION } from './description.ts';
import { toolServer } from './tools.ts';

/**
 * Serves the operations on runs as the tools of an MCP server, over streamable HTTP without sessions, at
 * `/host/<org>/mcp`. The tools are `create_run`, `read_run`, `cancel_run` and `answer_run`. A host serves MCP only with
 * this mount.
 *
 * @example
 * const host = createHost({ ...options, mounts: [mcpMount()] });
 * @see Interface: Endpoints, host-specific mounts; Version axes, 12
 */
export function mcpMount(): MountDefinition {
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
        serve: (call) => serve(call, services),
      }),
    ),
  });
}

/** The advertised revisions, without the features: the mount serves only tools. */
const { features: _, ...MCP } = REFERENCE_INTEROP.mcp;

async function serve(call: MountCall, services: MountServices): Promise<Reply> {
  const { request, json } = call;
  const server = () => toolServer(services, call, call.gone());
  const handler = createMcpHandler(server, { onerror: services.refusalOf });
  const response = await handler.fetch(request, json === undefined ? {} : { parsedBody: json });
  const body = response.body ?? undefined;
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    ...(body !== undefined && { body }),
  };
}
