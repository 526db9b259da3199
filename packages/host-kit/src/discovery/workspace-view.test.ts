import { covers } from '@svc/tools/covers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { workspaceView } from './workspace-view.ts';

const FAMILIES = ['webhooks', 'workspace', 'interrupts', 'telepathy'];
const DOCUMENT = {
  protocolVersions: ['1.1'],
  webhooks: {},
  workspace: {},
  interrupts: {},
  telepathy: {},
  capabilities: { webhooks: {}, workspace: {} },
};
const VIEWS: Readonly<Record<string, readonly string[]>> = { narrow: ['webhooks'], other: ['webhooks', 'workspace'] };
const views = {
  workspacesOf: () => ['narrow', 'other', 'whole'],
  familiesOf: (_tenant: string, workspace: string) => VIEWS[workspace],
};
const seen = (workspaces: readonly string[] | 'all') =>
  Object.keys(workspaceView(DOCUMENT, { tenant: 'acme', workspaces, mode: 'live' }, views)).filter((name) =>
    FAMILIES.includes(name),
  );

describe('workspaceView', () => {
  test.each([
    [['narrow'], ['webhooks']],
    [['other'], ['webhooks', 'workspace']],
    [['whole'], FAMILIES],
    [['narrow', 'other'], ['webhooks']],
    [['narrow', 'whole'], ['webhooks']],
    ['all' as const, ['webhooks']],
    [[], []],
  ])('shows %j the families %j', (workspaces, families) => expect(seen(workspaces)).toEqual(families));

  test('scopes the mirror of major 1 too, and keeps members that are no families', () => {
    expect(workspaceView(DOCUMENT, { tenant: 'acme', workspaces: ['narrow'], mode: 'live' }, views)).toEqual({
      protocolVersions: ['1.1'],
      webhooks: {},
      capabilities: { webhooks: {} },
    });
  });

  test(`${covers('auth.tenancy.scoped-discovery-monotone')} A view of fewer workspaces has every family of a wider one`, () => {
    const some = fc.subarray(['narrow', 'other', 'whole'], { minLength: 1 });
    fc.assert(
      fc.property(some, some, (one, more) => {
        const wide = seen([...new Set([...one, ...more])]);
        const fewer = seen(one);
        expect(wide.filter((family) => !fewer.includes(family))).toEqual([]);
      }),
    );
  });
});
