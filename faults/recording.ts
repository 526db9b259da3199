import { CHECKS, type Report } from '@svc/conformance';
import type { Asked } from '../examples/reference-host/test/conformance/faulty-proxy.ts';
import {
  type Exchange,
  type Kind,
  keyOf,
  kindOfAnswer,
  kindOfDelivery,
  type OperationOf,
  type Said,
} from './exchange.ts';
import type { Recorded } from './generate.ts';
import { copied, runSuite } from './suite-run.ts';

/** All exchanges of one run of the suite. */
export interface Recording {
  readonly recorded: readonly Recorded[];
  /** Checks that made or received exchanges of a kind, by its key: those that looked at the fewest other kinds first. */
  readonly touching: ReadonlyMap<string, readonly string[]>;
  readonly secrets: ReadonlyMap<string, string>;
  /** Results that did not pass. Their checks are left out of `touching`. */
  readonly failed: readonly string[];
}

/** Exchanges of one kind that are kept. */
const MOST_OF_KIND = 16;
/** Runs of the suite at the same time, each with its share of the checks. */
const SHARES = 16;

/**
 * Records a run of the whole suite. Each share runs its checks one after another, so that every exchange belongs to the check
 * whose result comes next.
 */
export async function record(url: string, operationOf: OperationOf): Promise<Recording> {
  const kinds = new Map<string, { readonly kind: Kind; readonly exchanges: Exchange[] }>();
  const kindsOfCheck = new Map<string, Set<string>>();
  const secrets = new Map<string, string>();
  const ids = CHECKS.map(({ id }) => id);
  const shares = Array.from({ length: SHARES }, (_, share) => ids.filter((_id, index) => index % SHARES === share));

  const recordShare = async (only: readonly string[]): Promise<Report> => {
    let seen = new Set<string>();
    const keep = (asked: Asked, said: Said, kind: Kind | undefined): void => {
      if (kind === undefined) return;
      const key = keyOf(kind);
      seen.add(key);
      const known = kinds.get(key) ?? { kind, exchanges: [] };
      kinds.set(key, known);
      if (known.exchanges.length < MOST_OF_KIND) known.exchanges.push({ asked, said, kind, at: Date.now() });
    };
    return runSuite(
      url,
      {
        answer(asked, said, open) {
          if (open === undefined) {
            keep(asked, said, kindOfAnswer(operationOf, asked, said));
            return { said };
          }
          if (said.headers['content-encoding'] !== undefined) return { said, open };
          const whole = (body: string) => keep(asked, { ...said, body }, kindOfAnswer(operationOf, asked, said));
          return { said, open: copied(open, whole) };
        },
        delivery(asked, said) {
          keep(asked, said, kindOfDelivery(said));
          return said;
        },
        secret: (webhookId, secret) => void secrets.set(webhookId, secret),
      },
      {
        only,
        concurrency: 1,
        onResult({ id, outcome }) {
          const of = kindsOfCheck.get(id) ?? new Set();
          // A check that was skipped looked at nothing.
          if (outcome === 'passed') for (const key of seen) of.add(key);
          kindsOfCheck.set(id, of);
          seen = new Set();
        },
      },
    );
  };

  const reports = await Promise.all(shares.map(recordShare));
  const touching = new Map<string, string[]>();
  const results = reports.flatMap((report) => report.results);
  const failed = results.filter(({ outcome }) => outcome === 'failed' || outcome === 'warned');
  // A check that fails without a mutation, as on a busy machine, finds nothing of one.
  for (const { id } of failed) kindsOfCheck.delete(id);
  const bySpecificity = [...kindsOfCheck].sort(([, one], [, other]) => one.size - other.size);
  for (const [id, of] of bySpecificity) {
    for (const key of of) touching.set(key, [...(touching.get(key) ?? []), id]);
  }
  return {
    // The order of arrival differs from run to run, and would give a seed other mutants.
    recorded: [...kinds].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, of]) => of),
    touching,
    secrets,
    failed: failed.map(
      ({ id, major, failure }) => `${id} (major ${major}): ${failure?.expected}; seen ${failure?.seen}`,
    ),
  };
}
