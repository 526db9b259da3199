import { covers } from '@svc/tools/covers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { launch, scratch } from './booted-host.ts';

const KEY = {
  id: 'key_1',
  key: 'operator_brought_key_of_enough_characters',
  tenant: 'acme',
  workspaces: ['*'],
  principal: 'p_1',
  scopes: ['runs:read'],
};
const BOOTS = { listen: { port: 0 }, store: 'memory:', tenants: [{ id: 'acme', workspaces: ['w'] }], apiKeys: [KEY] };

/** Boots a host that must not start, and returns its last words. */
async function refusalOf(changes: object): Promise<string> {
  const folder = scratch();
  onTestFinished(() => folder.remove());
  const host = launch(folder.path('config.json'), { ...BOOTS, ...changes });
  expect(await host.ended).toBe(2);
  return host.stderr.join('\n');
}

const PERSONAL = ['ada@example.com', 'Ada Lovelace'];

describe('a configuration that breaks a rule ends the process with exit code 2, and names each fault', () => {
  test(
    covers(
      'runs.owner.principal-kind-values',
      'runs.owner.principal-opaque',
      'runs.owner.tenant-workspace-opaque',
      'auth.workload.scheme-values',
    ),
    async () => {
      const keys = [
        ...PERSONAL.map((principal) => ({ principal })),
        { principalKind: 'workload' },
        { principalKind: '' },
      ];
      const text = await refusalOf({
        tenants: [{ id: 'acme', workspaces: ['w', ...PERSONAL] }, ...PERSONAL.map((id) => ({ id, workspaces: [] }))],
        apiKeys: keys.map((changes, index) => ({ ...KEY, id: `key_${index}`, key: `${KEY.key}${index}`, ...changes })),
        workloadIdentity: {
          schemes: ['spiffe', 'password'],
          audience: 'svc',
          trustDomains: [{ name: 'acme.example', jwksFile: '/nowhere' }],
        },
      });
      for (const path of [
        ...['apiKeys[0].principal', 'apiKeys[1].principal', 'apiKeys[2].principalKind', 'apiKeys[3].principalKind'],
        ...['tenants[0].workspaces[1]', 'tenants[0].workspaces[2]', 'tenants[1].id', 'tenants[2].id'],
        'workloadIdentity.schemes[1]',
      ])
        expect(text).toContain(path);
      expect(text).not.toContain('tenants[0].workspaces[0]');
      expect(text).not.toContain('workloadIdentity.schemes[0]');
    },
  );

  test.each<[string, object, readonly string[]]>([
    [
      'versions that are not two numbers without leading zeros',
      { versions: ['1.01', '2', '2.0.0', '1.1'], minClientVersion: '1.0.0' },
      ['protocol.versions[0]', 'protocol.versions[1]', 'protocol.versions[2]', 'protocol.minClientVersion'],
    ],
    [
      'a preferred version that is not served',
      { versions: ['1.1'], preferred: '2.0' },
      ['preferred: must be one of protocol.versions'],
    ],
    ['a preferred 2.x beside a 1.x', { preferred: '2.0' }, ['preferred: must be a 1.x version']],
  ])(
    `${covers(
      'versioning.advertisement.grammar',
      'versioning.client.minimum-grammar',
      'versioning.advertisement.preferred-is-member',
      'versioning.advertisement.overlap-prefers-1x',
    )} %s`,
    async (_title, protocol, faults) => {
      const text = await refusalOf({ protocol });
      for (const fault of faults) expect(text).toContain(fault);
      expect(text).not.toContain('protocol.versions[3]');
    },
  );

  test(covers('versioning.paths.org-not-a-segment'), async () => {
    expect(await refusalOf({ org: 'runs' })).toMatch(/^org: .*runs/m);
  });
});
