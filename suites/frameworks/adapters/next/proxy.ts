import { guard } from '@svc/auth/next';
import { NextResponse } from 'next/server';
import { auth } from './auth';

export const config = { matcher: '/behind/:path*' };

export const proxy = guard({ authenticator: auth, scope: 'runs:read' }, () => NextResponse.next());
