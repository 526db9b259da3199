import { running } from '../../src/host.ts';

// The host answers all paths that no other route has. It reads bodies itself.
const answer = (request: Request): Promise<Response> => running().host.fetch(request);

export { answer as DELETE, answer as GET, answer as HEAD, answer as PATCH, answer as POST, answer as PUT };

export const dynamic = 'force-dynamic';
