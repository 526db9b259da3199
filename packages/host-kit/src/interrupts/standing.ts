import type { Principal } from '@svc/auth';
import type { ApproverDirectory, Standing, StandingOf } from '../ports/approvers.ts';
import { type Clock, sleep } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { RunServices } from '../runs/change-run.ts';

/** Makes the lookup in a directory of approvers. A lookup that fails or is late is logged, and finds nothing. */
export function standingLookup(
  directory: ApproverDirectory,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): StandingOf {
  return async ({ id, kind }, place) => {
    if (kind === 'anonymous') return NONE;
    const [groups, roles] = await Promise.all([
      names('groupsOf', () => directory.groupsOf?.(id, place)),
      names('rolesOf', () => directory.rolesOf?.(id, place)),
    ]);
    return { groups, roles };
  };

  async function names(method: string, look: () => ReturnType<LookUp> | undefined): Promise<ReadonlySet<string>> {
    const done = new AbortController();
    try {
      const late = sleep(clock, LOOKUP_MS, done.signal).then(() => Promise.reject(new Error('It is late.')));
      // The race ends the wait; the rejection that follows has no reader.
      late.catch(() => {});
      const found = await Promise.race([Promise.resolve().then(look), late]);
      return new Set(found ?? []);
    } catch (error) {
      log({ level: 'error', event: 'approvers.lookup-failed', method, error: String(error) });
      return NONE.groups;
    } finally {
      done.abort();
    }
  }
}

type LookUp = NonNullable<ApproverDirectory['groupsOf']>;

const LOOKUP_MS = 1000;
const NONE: Standing = { groups: new Set(), roles: new Set() };

/**
 * Returns the standing of a caller for the questions of a run. Call it before the transaction of the answer: inside one,
 * a slow directory would block every other change.
 */
export async function standingFor(
  { store, standingOf }: Pick<RunServices, 'store' | 'standingOf'>,
  principal: Principal,
  runId: string,
): Promise<Standing> {
  if (standingOf === undefined) return NONE;
  const lookup = await store.runs.read(principal.tenancy, runId);
  if (lookup.kind !== 'found') return NONE;
  const { tenant, workspace } = lookup.value;
  return standingOf(principal, { tenant, ...(workspace !== undefined && { workspace }) });
}
