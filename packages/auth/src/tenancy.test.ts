import { describe, expect, test } from 'vitest';
import { isReach, reachesWorkspace } from './tenancy.ts';

describe('reachesWorkspace', () => {
  test.each([
    ['a caller of all workspaces', 'all', 'acme-dev', true],
    ['a caller of all workspaces, what belongs to none', 'all', undefined, true],
    ['a caller of the workspace', ['acme-prod', 'acme-dev'], 'acme-dev', true],
    ['a caller of another workspace', ['acme-prod'], 'acme-dev', false],
    ['a caller of one workspace, what belongs to none', ['acme-prod'], undefined, false],
    ['a caller of no workspace', [], 'acme-dev', false],
    ['a workspace whose name begins alike', ['acme'], 'acme-dev', false],
    ['a workspace that is called all', ['acme-prod'], 'all', false],
    ['a workspace of another case', ['acme-prod'], 'Acme-Prod', false],
  ] as const)('%s', (_case, workspaces, workspace, reached) => {
    expect(reachesWorkspace({ workspaces }, workspace)).toBe(reached);
  });
});

describe('isReach', () => {
  test.each([['all'], [['acme-prod']], [['acme-prod', 'acme-dev']], [['all']], [['a'.repeat(256)]]])(
    '%j is a reach',
    (value) => {
      expect(isReach(value)).toBe(true);
    },
  );

  test.each([
    [undefined],
    [null],
    [true],
    [''],
    ['*'],
    ['acme-prod'],
    ['ALL'],
    [{}],
    [{ length: 1, 0: 'acme-prod' }],
    [new Set(['acme-prod'])],
    [[]],
    [['*']],
    [['acme-prod', '*']],
    [['*', 'acme-prod']],
    [['acme-prod', '']],
    [['acme-prod', 7]],
    [[7]],
    [['acme/prod']],
    [['acme prod']],
    [[['acme-prod']]],
  ])('%j is none', (value) => {
    expect(isReach(value)).toBe(false);
  });
});
