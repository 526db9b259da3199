import { guard } from '@svc/auth/next';
import { auth } from '../../auth';

export const GET = guard(
  { authenticator: auth, optional: true },
  (_request: Request, _context: unknown, principal) => new Response(principal?.id ?? 'nobody'),
);
