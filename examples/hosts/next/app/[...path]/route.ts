import { answer } from '../../src/answer.ts';

// The host answers all paths that no other route has.
export { answer as DELETE, answer as GET, answer as HEAD, answer as PATCH, answer as POST, answer as PUT };

export const dynamic = 'force-dynamic';
