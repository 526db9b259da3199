import { z } from 'zod';
import { empty, type MountDescription } from '../../http/description.ts';
import { jsonRpcDescription } from '../json-rpc-description.ts';

/** The entry of A2A in the API description of the mounts. */
export const A2A_DESCRIPTION: MountDescription = jsonRpcDescription({
  operationId: 'callA2a',
  summary: 'Call the A2A server',
  description: 'A JSON-RPC request of A2A 1.0 or 0.3. Use a client of A2A with the agent card of this mount.',
  headers: {
    'A2A-Version': z.enum(['1.0', '0.3']).optional().describe('The version of A2A. Default: by the method.'),
  },
  answers: { 204: empty('The request was a notification, which has no response.') },
});
