import type { Result } from '@svc/conformance';
import { isStream, keyOf, kindOfAnswer, kindOfDelivery, type OperationOf } from './exchange.ts';
import { changing } from './frames.ts';
import type { Mutant } from './generate.ts';
import { frameChange, isOfFrames, mutated } from './mutation.ts';
import { runSuite, Unreachable, UsageError } from './suite-run.ts';

/** The findings of the suite about a host with one mutation. */
export interface Trial {
  /** The first checks that failed or warned, as `<id> <major>`, or the error with which the suite refused to begin. */
  readonly found: readonly string[];
  /** Messages that were changed. Without any, the suite had nothing to find. */
  readonly changed: number;
}

/** Runs some checks against the host with a mutation; none is the control. */
export async function trial(
  url: string,
  operationOf: OperationOf,
  mutant: Mutant | undefined,
  only: readonly string[],
): Promise<Trial> {
  const secrets = new Map<string, string>();
  const secretOf = (webhookId: string) => secrets.get(webhookId);
  const key = mutant === undefined ? undefined : keyOf(mutant.kind);
  let changed = 0;
  // One finding is enough, and the checks after it may wait long for what the mutation prevents.
  const enough = new AbortController();
  try {
    const { results } = await runSuite(
      url,
      {
        answer(asked, said, open) {
          const kind = kindOfAnswer(operationOf, asked, said);
          if (mutant === undefined || kind === undefined || keyOf(kind) !== key) return { said, ...(open && { open }) };
          const { mutation } = mutant;
          if (open !== undefined && isOfFrames(mutation) && isStream(said)) {
            changed += 1;
            return { said, open: open.pipe(changing(frameChange(mutation))) };
          }
          const next = mutated(mutation, { said, asked }, secretOf);
          if (next !== said) changed += 1;
          return { said: next, ...(open && next.body === '' && { open }) };
        },
        delivery(asked, said) {
          if (mutant === undefined || keyOf(kindOfDelivery(said)) !== key) return said;
          changed += 1;
          return mutated(mutant.mutation, { said, asked }, secretOf);
        },
        secret: (webhookId, secret) => void secrets.set(webhookId, secret),
      },
      {
        only,
        signal: enough.signal,
        onResult(result) {
          if (isFinding(result)) enough.abort();
        },
      },
    );
    return { found: results.filter(isFinding).map(({ id, major }) => `${id} ${major}`), changed };
  } catch (error) {
    if (!(error instanceof UsageError) && !(error instanceof Unreachable)) throw error;
    return { found: [error.message], changed };
  }
}

function isFinding({ outcome }: Result): boolean {
  return outcome === 'failed' || outcome === 'warned';
}
