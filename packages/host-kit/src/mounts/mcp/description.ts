import { z } from 'zod';
import { empty, type MountDescription } from '../../http/description.ts';
import { jsonRpcDescription } from '../json-rpc-description.ts';

/** The entry of MCP in the API description of the mounts. */
export const MCP_DESCRIPTION: MountDescription = jsonRpcDescription({
  operationId: 'callMcp',
  summary: 'Call the MCP server',
  description: 'A JSON-RPC request of the Model Context Protocol over streamable HTTP. Use a client of MCP.',
  headers: {
    'MCP-Protocol-Version': z.string().optional().describe('The revision of MCP that client and server agreed on.'),
  },
  answers: { 202: empty('The notification is accepted.') },
});
