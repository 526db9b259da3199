import { anonymousActor } from '@svc/auth';
import { covers } from '@svc/tools/covers';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/ports/clock.ts';
import { systemRandom } from '../../src/ports/random.ts';
import { createRun } from '../../src/runs/create.ts';
import { memoryStore } from '../../src/stores/memory/index.ts';

const engine = { version: 1 };
const request = {
  workflowId: 'echo',
  inputs: {},
  scope: undefined,
  configurable: undefined,
  tags: [],
  metadata: undefined,
};

const services = {
  ...{ engine, clock: systemClock, random: systemRandom, hasWorkspace: () => true, maxRunDurationMs: undefined },
};

test(covers('runs.anonymous.kind-on-run'), async () => {
  const tenancy = { tenant: 'acme', workspaces: ['public'], mode: 'live' } as const;
  const actor = anonymousActor({ tenancy, issuer: 'urn:svc:host', randomBytes: systemRandom });
  const store = memoryStore();
  const facts: unknown[] = [];
  const recordAudit = async (fact: unknown) => void facts.push(fact);
  const options = { ...services, store, recordAudit };
  const run = await createRun(options, actor, request);
  expect(run.owner).toMatchObject({ principal: actor.id, principalKind: 'anonymous', workspace: 'public' });
  expect(facts).toMatchObject([{ action: 'run.create', actor: actor.id, target: `acme/${run.runId}` }]);
});

test(covers('auth.audit.same-transaction'), async () => {
  const store = memoryStore();
  const tenancy = { tenant: 'acme', workspaces: ['public'], mode: 'live' } as const;
  const actor = anonymousActor({ tenancy, issuer: 'urn:svc:host', randomBytes: systemRandom });
  const recordAudit = () => Promise.reject(new Error('the audit log cannot be written'));
  const options = { ...services, store, recordAudit };
  await expect(createRun(options, actor, request)).rejects.toThrow('cannot be written');
  expect(await store.runs.unfinished({ after: undefined, limit: 10 })).toEqual([]);
});
