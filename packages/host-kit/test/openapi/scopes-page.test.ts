import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { HOST_SCOPES } from '@svc/host-kit';
import { afterAll, describe, expect, test } from 'vitest';
import { DESCRIPTIONS, hostOfEverything } from './host-of-everything.ts';

const PAGE = readFileSync(fileURLToPath(new URL('../../../../docs/scopes.md', import.meta.url)), 'utf8');

/** Operations that require none of their scopes by themselves, or that other software serves. */
const WITHOUT_OPERATION = ['keys:assign', 'packs:publish', 'packs:yank', 'packs:yank-revert'];

const { host, call } = await hostOfEverything();
afterAll(() => host.stop());

/** The summaries of the operations that each scope opens. */
async function opened(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const found = new Map<string, Set<string>>();
  for (const document of DESCRIPTIONS) {
    const { body } = await call('GET', document);
    for (const methods of Object.values<Record<string, Operation>>(body.paths)) {
      for (const { summary, security = [] } of Object.values(methods)) {
        for (const scope of security.flatMap((credential) => Object.values(credential).flat())) {
          found.set(scope, (found.get(scope) ?? new Set()).add(summary));
        }
      }
    }
  }
  return found;
}

interface Operation {
  readonly summary: string;
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
}

describe('docs/scopes.md', () => {
  test('has a row for each scope, with every operation that it opens', async () => {
    const operations = await opened();
    for (const scope of HOST_SCOPES.filter((name) => !WITHOUT_OPERATION.includes(name))) {
      const row = `| \`${scope}\` | ${[...(operations.get(scope) ?? [])].sort().join(' · ')} |`;
      expect(PAGE).toContain(row);
    }
    for (const scope of WITHOUT_OPERATION) expect(PAGE).toMatch(new RegExp(`^\\| \`${scope}\` \\| None: `, 'm'));
  });

  test('has no other scope, and HOST_SCOPES lacks none of an operation', async () => {
    const rows = [...PAGE.matchAll(/^\| `([^`]+)` \|/gm)].map(([, scope]) => scope);
    expect(rows.toSorted()).toEqual([...HOST_SCOPES].sort());
    for (const scope of (await opened()).keys()) expect(HOST_SCOPES).toContain(scope);
  });
});
