import type { FastifyRequest } from 'fastify';
import {
  admittance,
  GUARD_OPTIONS,
  type GuardOptions,
  type OptionalGuardOptions,
  requireGuardOptions,
} from '../guard.ts';
import type { Principal } from '../principal.ts';
import { headOf } from './node-request.ts';

export type { GuardOptions, OptionalGuardOptions } from '../guard.ts';
export { type GuardedRequest, principalOf } from './guarded-request.ts';
export { peerOf } from './node-request.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller. Set by `guard`; undefined on a route without it. */
    principal?: Principal | undefined;
  }
}

/** The part of Fastify's request that the guard uses. */
export type GuardableRequest = Pick<FastifyRequest, 'raw' | 'principal'>;

/** The part of Fastify's reply that the guard uses. */
export interface FastifyReply {
  /** Sets the status. */
  code(status: number): FastifyReply;
  /** Sets a header. */
  header(name: string, value: string): FastifyReply;
  /** Sends the body. */
  send(body: string): unknown;
}

/**
 * Makes a Fastify `onRequest` hook from a guard, for a route or a scope. `request.principal` is the caller;
 * `principalOf(request)` is the same without `undefined` in its type. With `optional`, `request.principal` is undefined for
 * a request without a credential.
 *
 * @example
 * import { authenticator } from '@svc/auth';
 * import { apiKeyLane, memoryKeyStore } from '@svc/auth/api-key';
 * import { guard, principalOf } from '@svc/auth/fastify';
 * import fastify from 'fastify';
 *
 * const auth = authenticator({ lanes: [apiKeyLane({ keys: memoryKeyStore([]) })] });
 * const app = fastify();
 * const onRequest = guard({ authenticator: auth, scope: 'runs:read' });
 * app.get('/runs', { onRequest }, async (request) => ({ tenant: principalOf(request).tenancy.tenant }));
 */
export function guard(
  options: GuardOptions | OptionalGuardOptions,
): (request: GuardableRequest, reply: FastifyReply) => Promise<unknown> {
  requireGuardOptions('guard', options, GUARD_OPTIONS);
  const admit = admittance(options);
  return async (request, reply) => {
    const verdict = await admit(headOf(request.raw));
    const { headers } = verdict.admitted ? verdict : verdict.refusal;
    for (const [name, value] of Object.entries(headers)) reply.header(name, value);
    if (!verdict.admitted) return reply.code(verdict.refusal.status).send(verdict.refusal.body);
    request.principal = verdict.principal;
    return undefined;
  };
}
