import type { Served } from '@svc/versioning';
import { resolveId } from '@svc/versioning/ids';
import { HostError } from '../errors.ts';
import { json } from '../http/description.ts';
import { type MountRoute, mountRoute, parse } from '../http/route.ts';
import { decodedSegment } from '../http/segment.ts';
import { type MintTokenOptions, mintToken } from '../interrupts/mint-token.ts';
import { Unanswerable } from '../interrupts/unanswerable.ts';
import { mintedToken, tokenRequest } from '../wire/interrupt.ts';

/** The ports of {@link interruptTokenRoutes}. */
export interface InterruptTokenRoutesOptions extends MintTokenOptions {
  /** The majors that the host serves: a token of another major has no path. */
  readonly served: Pick<Served, 'majors'>;
}

/**
 * The route `/host/<org>/interrupts/{runId}/{nodeId}/tokens`. A caller that may answer an interrupt mints a token for a
 * person without a credential.
 */
export function interruptTokenRoutes(options: InterruptTokenRoutesOptions): MountRoute[] {
  const { tokens, served } = options;
  return [
    mountRoute({
      method: 'POST',
      path: '/interrupts/{runId}/{nodeId}/tokens',
      scope: 'approvals:respond',
      takesBody: true,
      describes: {
        operationId: 'mintInterruptToken',
        summary: 'Mint a token for a question',
        description:
          'The token is the credential of a person without one, for the question of one node. No token is stored, so ' +
          'a repeated request mints another one.',
        body: tokenRequest,
        example: { intent: 'resolve', lifetimeSeconds: 3600 },
        answers: { 201: json('The token.', mintedToken, { headers: ['Cache-Control'] }) },
        errors: ['not_found', 'run_forbidden', 'id_tenant_mismatch'],
      },
      // Safe without an idempotency key: no token is stored, so a repeat only leaves an unused one behind.
      async serve({ params, principal, json: body }) {
        const { intent, lifetimeSeconds, form } = parse(tokenRequest, body);
        const { tenant } = principal.tenancy;
        const resolved = resolveId(params.runId ?? '', { tenant, major: 2, overlap: true });
        if (!resolved.ok) throw resolved.error;
        const address = { runId: resolved.id, nodeId: decodedSegment(params.nodeId) ?? '' };
        const lifetimeMs = lifetimeSeconds === undefined ? undefined : lifetimeSeconds * 1000;
        const claims = await mintToken(options, principal, address, { intent, lifetimeMs }).catch((error: unknown) => {
          throw error instanceof Unanswerable ? notWaiting() : error;
        });
        const token = tokens.mint(claims, form);
        return {
          status: 201,
          headers: { 'cache-control': 'private, no-store' },
          body: {
            token,
            intent,
            expiresAt: new Date(claims.expiresAt).toISOString(),
            path: served.majors.has(form) ? `${form === 1 ? '/v1' : ''}/interrupts/${token}` : null,
          },
        };
      },
    }),
  ];
}

function notWaiting(): HostError {
  return new HostError('not_found', 'The node does not wait for an answer.', { details: undefined });
}
