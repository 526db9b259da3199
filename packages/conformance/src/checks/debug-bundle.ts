import { createPublicKey, verify } from 'node:crypto';
import { z } from 'zod';
import { canonicalJson } from '../canonical-json.ts';
import { area, type RunnableCheck } from '../check.ts';
import { body, fits, holds, refused, same } from '../expect.ts';
import { NOOP } from '../fixtures.ts';
import type { Answer } from '../http/answer.ts';
import { fixture, mount, scopes } from '../needs.ts';
import { segment, unknownId } from '../shapes/id.ts';
import { endedRun, logOf } from '../steps/runs.ts';
import { mountPath } from '../target.ts';
import type { World } from '../world.ts';

const RULE = { section: 'Versioning: Version axes, 10', source: 'interface' } as const;

/** Debug bundles of runs, under `/host/<org>/runs/{runId}/debug-bundle`. */
export const debugBundles: readonly RunnableCheck[] = area(
  'debug-bundle',
  { needs: [mount('debug-bundles'), scopes('runs:create', 'runs:read')] },
  [
    {
      id: 'signed',
      name: 'A debug bundle has `bundleVersion` 2, the log of its run, and a signature of a key in `signingKeys`.',
      rule: RULE,
      needs: [fixture(NOOP)],
      async run(world) {
        const { runId } = await endedRun(world);
        const log = await logOf(world, runId);
        const answer = await world.api.get(pathOf(world, runId));
        const bundle = body(answer, 200, BUNDLE);
        same([bundle.run.runId, bundle.log.isWhole], [runId, true], 'the run, and whether the log is whole', answer);
        same(
          bundle.log.events.map(({ sequence }) => sequence),
          log.map(({ sequence }) => sequence),
          'the sequences',
          answer,
        );
        const { signature, ...unsigned } = bundle;
        const key = keyOf(world, signature.keyId, answer);
        const signed = Buffer.from(`svc debug bundle 2\n${canonicalJson(unsigned)}`);
        const isSigned = verify(null, signed, key, Buffer.from(signature.value, 'base64url'));
        holds(isSigned, 'a signature of the key over the other members', 'another signature', answer);
      },
    },
    {
      id: 'unknown-404',
      name: 'The debug bundle of an unknown run is answered 404.',
      rule: RULE,
      async run(world) {
        refused(await world.api.get(pathOf(world, unknownId(world.major, world.target.tenant))), 404, 'not_found');
      },
    },
  ],
);

const SIGNATURE = z.strictObject({ alg: z.literal('ed25519'), keyId: z.string(), value: z.string() });
const BUNDLE = z.looseObject({
  bundleVersion: z.literal('2'),
  kind: z.literal('debug'),
  run: z.looseObject({ runId: z.string() }),
  log: z.looseObject({ events: z.array(z.looseObject({ sequence: z.int() })), isWhole: z.boolean() }),
  signature: SIGNATURE,
});
const KEYS = z.array(z.looseObject({ keyId: z.string(), publicKey: z.string() }));

function pathOf({ target, major }: World, runId: string): string {
  return `${mountPath(target, major, 'debug-bundles')}/${segment(runId)}/debug-bundle`;
}

function keyOf({ target, major }: World, keyId: string, answer: Answer) {
  const keys = fits(target.documents[major]?.signingKeys, KEYS, answer);
  const found = keys.find((each) => each.keyId === keyId);
  holds(found !== undefined, 'a key of signingKeys', keyId, answer);
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: found?.publicKey ?? '' }, format: 'jwk' });
}
