import { createPublicKey, verify } from 'node:crypto';
import { z } from 'zod';
import { area, type RunnableCheck } from '../check.ts';
import { body, fits, holds, refused, same } from '../expect.ts';
import { NOOP } from '../fixtures.ts';
import { described } from '../http/answer.ts';
import { Inapplicable } from '../mismatch.ts';
import { fixture, key, scopes } from '../needs.ts';
import type { Major } from '../rule.ts';
import { endedRun } from '../steps/runs.ts';
import { isRecord, type Target } from '../target.ts';

const VERIFY = 'Endpoints: GET /v1/audit/verify';

/** Verification of the audit log. */
export const audit: readonly RunnableCheck[] = area('audit', { needs: [scopes('audit:read')] }, [
  {
    id: 'verified',
    name: 'Verification of a range is answered with the validity of the chain, its checkpoints and its anomalies.',
    rule: [VERIFY, 'operations.audit.verify'],
    needs: [advertises, scopes('runs:create', 'runs:read'), fixture(NOOP)],
    async run(world) {
      await endedRun(world);
      const answer = await world.api.get('/audit/verify?fromSeq=0&toSeq=1000');
      const result = body(answer, 200, RESULT);
      same([result.fromSeq, result.toSeq], [0, 1000], 'fromSeq and toSeq', answer);
      same(
        result.chainValid,
        result.anomalies.length === 0,
        'chainValid, true exactly when there are no anomalies,',
        answer,
      );
      holds(result.chainValid, 'a valid chain', described(answer), answer);
    },
  },
  {
    id: 'range-400',
    name: 'A range that is not two whole numbers in ascending order is answered 400.',
    rule: [VERIFY, 'operations.audit.verify'],
    needs: [advertises],
    async run({ api }) {
      for (const query of [
        '',
        '?fromSeq=0',
        '?toSeq=1',
        '?fromSeq=-1&toSeq=1',
        '?fromSeq=x&toSeq=1',
        '?fromSeq=0.5&toSeq=1',
        '?fromSeq=2&toSeq=1',
      ]) {
        refused(await api.get(`/audit/verify${query}`), 400, 'validation_error');
      }
    },
  },
  {
    id: 'checkpoints-signed',
    name: 'Every checkpoint is signed with Ed25519 over its Merkle root by the key in discovery.',
    rule: ['Audit logging', 'auth.audit.checkpoints'],
    needs: [advertises],
    async run({ api, target, major }) {
      const answer = await api.get('/audit/verify?fromSeq=0&toSeq=1000');
      const { checkpoints } = body(answer, 200, RESULT);
      if (checkpoints.length === 0) throw new Inapplicable('the range has no checkpoint');
      const published = fits(integrityIn(target, major), z.looseObject({ checkpointPublicKey: z.string() }));
      const spki = Buffer.from(published.checkpointPublicKey, 'base64');
      const publicKey = createPublicKey({ key: spki, format: 'der', type: 'spki' });
      for (const { merkleRoot, signature, checkpoint } of checkpoints) {
        const isSigned = verify(null, Buffer.from(merkleRoot, 'hex'), publicKey, Buffer.from(signature, 'base64'));
        holds(isSigned, `a signature of ${checkpoint} by the published key`, signature, answer);
      }
    },
  },
  {
    id: 'scope',
    name: 'Verification is answered 403 to a key without `audit:read`.',
    rule: ['Authentication: scope audit:read', 'operations.routes.required-scope'],
    needs: [advertises, key('readOnly')],
    async run({ as }) {
      refused(await as('readOnly').get('/audit/verify?fromSeq=0&toSeq=1'), 403, 'forbidden');
    },
  },
  {
    id: 'unadvertised-404',
    name: 'A host that does not advertise audit-log integrity does not serve verification.',
    rule: [VERIFY, 'operations.audit.verify-gated'],
    needs: [
      (target, major) => (advertises(target, major) === undefined ? 'the host advertises the profile' : undefined),
    ],
    async run({ api, major }) {
      const answer = await api.get('/audit/verify?fromSeq=0&toSeq=1');
      if (major === 2) refused(answer, 404, 'not_found');
      else refused(answer, answer.status === 501 ? 501 : 404);
    },
  },
]);

const HASH = z.string().regex(/^[0-9a-f]{64}$/);

const RESULT = z.strictObject({
  fromSeq: z.int().min(0),
  toSeq: z.int().min(0),
  chainValid: z.boolean(),
  checkpointsValid: z.boolean().optional(),
  checkpoints: z.array(
    z.strictObject({
      checkpoint: z.string().min(1).max(256),
      atSequence: z.int().min(0),
      merkleRoot: HASH,
      signature: z.string().min(1),
    }),
  ),
  anomalies: z.array(z.looseObject({ atSeq: z.int().min(0) })),
});

function advertises(target: Target, major: Major): string | undefined {
  return integrityIn(target, major) === undefined ? 'the host does not advertise audit-log integrity' : undefined;
}

/** Major 1 advertises it within `auth`, major 2 as a record. */
function integrityIn({ documents }: Target, major: Major): unknown {
  if (major === 2) return documents[2]?.auditLogIntegrity;
  const auth = documents[1]?.auth;
  return isRecord(auth) ? auth.auditLogIntegrity : undefined;
}
