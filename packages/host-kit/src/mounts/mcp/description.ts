import { z } from 'zod';
import { empty, type MountDescription } from '../../http/description.ts';
import { jsonRpcDescription, rpcFailure } from '../json-rpc-description.ts';
import { MCP, REVISIONS } from './revisions.ts';

const { preferredVersion: PREFERRED } = MCP;

/** The entry of MCP in the API description of the mounts. Its headers are those that a page of another origin may send. */
export const MCP_DESCRIPTION: MountDescription = jsonRpcDescription({
  operationId: 'callMcp',
  summary: 'Call the MCP server',
  description: 'A JSON-RPC request of the Model Context Protocol over streamable HTTP. Use a client of MCP.',
  headers: {
    'MCP-Protocol-Version': z
      .enum(REVISIONS)
      .optional()
      .describe('The revision of MCP that client and server agreed on. Another one is refused.'),
    'Mcp-Method': z.string().optional().describe(`The \`method\` of the request. MCP ${PREFERRED} demands it.`),
    'Mcp-Name': z
      .string()
      .optional()
      .describe(`The name of the tool, or the id of the task. MCP ${PREFERRED} demands it of requests that have one.`),
  },
  answers: {
    202: empty('The notification is accepted.'),
    404: rpcFailure('MCP has no such method.'),
    406: rpcFailure('The client must accept `application/json` and `text/event-stream`.'),
  },
});
