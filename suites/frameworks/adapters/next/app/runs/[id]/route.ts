import { guard } from '@svc/auth/next';
import type { NextRequest } from 'next/server';
import { auth } from '../../../auth';

export const GET = guard(
  { authenticator: auth, scope: 'runs:read' },
  async ({ nextUrl }: NextRequest, { params }: RouteContext<'/runs/[id]'>, { id: caller }) =>
    Response.json({ caller, run: (await params).id, part: nextUrl.searchParams.get('part') }),
);
