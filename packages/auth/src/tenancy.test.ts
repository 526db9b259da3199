import { describe, expect, test } from 'vitest';
import { reachesWorkspace } from './tenancy.ts';

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
