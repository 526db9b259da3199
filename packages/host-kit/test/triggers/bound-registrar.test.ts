import type { Principal } from '@svc/auth';
import { storedAccess, systemClock } from '@svc/host-kit';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { expect, test } from 'vitest';
import type { AccessServices } from '../../src/access/access-parts.ts';
import { bindWorkload, unbindWorkload, updateBinding } from '../../src/access/bindings.ts';
import { systemRandom } from '../../src/ports/random.ts';
import { secretBox } from '../../src/sealing/secret-box.ts';
import { changeGrants } from '../../src/triggers/change/grants.ts';
import { queueGrants } from '../../src/triggers/queue/grants.ts';
import { type RegisterTriggerOptions, registerTrigger } from '../../src/triggers/register.ts';
import { standingOfRegistrar } from '../../src/triggers/standing.ts';

const ISSUER = 'https://token.example';
const SUBJECT = 'repo:acme/a';
const SCOPES = ['runs:create', 'webhooks:manage'];
const tenancy = { tenant: 'acme', workspaces: ['w1'], mode: 'live' } as const;
const callerOf = (id: string, lane: string): Principal => ({
  ...{ id, kind: undefined, credentialId: id, lane, binding: 'bearer', tenancy, scopes: SCOPES },
  subject: { issuer: 'urn:a', subjectId: id, tenant: 'acme', lane, kind: 'workload' },
});
/** The workload as its lane accepts it while it is bound. */
const workloadOf = (id: string): Principal => ({
  ...callerOf(id, 'workload'),
  tokens: [{ issuer: ISSUER, subject: SUBJECT, issuedAt: 1 }],
  workload: {
    ...{ actor: { principalId: id, kind: 'workload' }, onBehalfOf: undefined, depth: 0 },
    ...{ issuerClass: 'token', audience: 'match' },
    identity: { scheme: 'cloud-subject', issuer: ISSUER, subject: SUBJECT },
  },
});

test('a trigger of a workload starts runs only while it is bound, and with no more than its binding has', async () => {
  const store = memoryStore();
  const grants = [{ tenant: 'acme', issuer: ISSUER }];
  const access = storedAccess({ store, workloads: { grants, bindings: [] } });
  const parts = { store, clock: systemClock, recordAudit: async () => {} };
  await access.begin({ ...parts, log: () => {} });
  const services: AccessServices = { ...parts, access, hasWorkspace: () => true };
  const boss = callerOf('p_boss', 'oidc');
  const asked = { issuer: ISSUER, subject: SUBJECT, scopes: SCOPES, mode: 'live' } as const;
  const bind = () => bindWorkload(services, boss, asked, async () => {});
  const binding = await bind();
  const options: RegisterTriggerOptions = {
    ...{ ...parts, access, roles: undefined, hasStoredKeys: true, random: systemRandom, hasWorkspace: () => true },
    ...{ secrets: secretBox(new Uint8Array(32), systemRandom), maxPerTenant: 10 },
    storeClock: { read: async () => 0 },
    queues: queueGrants({}),
    servesEmail: false,
    changes: changeGrants({}),
    streamEgress: undefined,
    retryPolicy: { maxAttempts: 3, backoff: 'fixed' },
  };
  const { trigger } = await registerTrigger(options, workloadOf(binding.principal), 2, {
    ...{ workspace: 'w1', description: undefined, secret: undefined, retryPolicy: undefined },
    ...{ mapping: { workflowId: 'echo', inputs: {} }, rules: { source: 'webhook', webhook: { preset: 'github' } } },
  });
  const standing = () => standingOfRegistrar(options, trigger);
  expect(await standing()).toMatchObject({ ok: true, principal: { id: binding.principal, scopes: SCOPES } });

  await updateBinding(services, boss, binding.id, { scopes: ['webhooks:manage'] });
  expect(await standing()).toMatchObject({ ok: false, problem: expect.stringContaining('no longer holds the scope') });
  await unbindWorkload(services, boss, binding.id);
  expect(await standing()).toEqual({ ok: false, problem: 'registrar: its workload is not bound' });
  await bind();
  expect(await standing()).toMatchObject({ ok: true });
  await access.end();
});
