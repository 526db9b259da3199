import type { Served } from '@svc/versioning';
import { resolveId } from '@svc/versioning/ids';
import { HostError } from '../errors.ts';
import { type MountRoute, mountRoute, parse } from '../http/route.ts';
import { decodedSegment } from '../http/segment.ts';
import { type MintTokenOptions, mintToken } from '../interrupts/mint-token.ts';
import { Unanswerable } from '../interrupts/unanswerable.ts';
import { tokenRequest } from '../wire/interrupt.ts';

export interface InterruptTokenRoutesOptions extends MintTokenOptions {
  readonly served: Pick<Served, 'majors'>;
}

/**
 * Tokens for people who have no credential, under `/host/<org>/interrupts/{runId}/{nodeId}/tokens`: a caller who may answer a question
 * passes it on.
 */
export function interruptTokenRoutes(options: InterruptTokenRoutesOptions): MountRoute[] {
  const { tokens, served } = options;
  return [
    mountRoute({
      method: 'POST',
      path: '/interrupts/{runId}/{nodeId}/tokens',
      scope: 'approvals:respond',
      takesBody: true,
      // No token is stored: to ask again makes another one, and what nobody received nobody can use.
      async serve({ params, principal, json }) {
        const { intent, lifetimeSeconds, form } = parse(tokenRequest, json);
        const { tenant } = principal.tenancy;
        const resolved = resolveId(params.runId ?? '', { tenant, major: 2, overlap: true });
        if (!resolved.ok) throw resolved.error;
        const address = { runId: resolved.id, nodeId: decodedSegment(params.nodeId) ?? '' };
        const lifetimeMs = lifetimeSeconds === undefined ? undefined : lifetimeSeconds * 1000;
        const claims = await mintToken(options, principal, address, { intent, lifetimeMs }).catch((error: unknown) => {
          throw error instanceof Unanswerable ? unasked() : error;
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

function unasked(): HostError {
  return new HostError('not_found', 'The node waits for no answer.', { details: undefined });
}
