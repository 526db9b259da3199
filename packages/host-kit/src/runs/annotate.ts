import type { Principal } from '@svc/auth';
import type { ChangeServices } from '../audit/change-services.ts';
import { factAbout } from '../audit/fact.ts';
import { invalid } from '../errors.ts';
import { mintInOrder } from '../ids-in-order.ts';
import type { Annotation } from '../ports/annotations.ts';
import { type Save, saveNothing } from '../ports/idempotency.ts';
import type { Random } from '../ports/random.ts';
import type { Run } from '../ports/runs.ts';
import { runForChange } from './find-run.ts';
import { withoutSecrets } from './secret-shapes.ts';

/** An annotation as a caller gives it. */
export type NewAnnotation = Pick<Annotation, 'signal'> & Partial<Pick<Annotation, 'eventId' | 'nodeId' | 'note'>>;

/** A stored annotation, with its run. */
export interface Annotated {
  readonly run: Run;
  readonly annotation: Annotation;
}

/** Limits the annotations of a run, which are read as a whole. */
export const MOST_ANNOTATIONS = 1000;

/**
 * Stores a judgement of a run, whether it goes on or has ended. Text that has the shape of a secret is replaced.
 *
 * @param save is called in the transaction of the change
 * @throws {HostError} `not_found`, `run_forbidden`, and `validation_error` when the run has {@link MOST_ANNOTATIONS}
 */
export async function annotateRun(
  { store, clock, random, recordAudit }: ChangeServices & { readonly random: Random },
  principal: Principal,
  runId: string,
  given: NewAnnotation,
  save: Save<Annotated> = saveNothing,
): Promise<Annotated> {
  const find = runForChange(store.runs, principal.tenancy, runId);
  const createdAt = clock.now();
  const annotation: Annotation = {
    ...withoutSecrets(given),
    annotationId: mintInOrder('ann', clock, random),
    runId,
    actor: principal.id,
    createdAt,
  };
  return await store.transaction(async (transaction) => {
    const run = await find(transaction);
    if ((await store.annotations.count(run, transaction)) >= MOST_ANNOTATIONS) {
      throw invalid({ field: 'runId', problem: `must be a run of fewer than ${MOST_ANNOTATIONS} annotations` });
    }
    await store.annotations.insert(annotation, transaction);
    const target = `${run.tenant}/${runId}`;
    const details = { annotation: annotation.annotationId, kind: annotation.signal.kind };
    const { workspace } = run;
    const fact = factAbout(principal, { action: 'run.annotate', target, at: createdAt, workspace, details });
    await recordAudit(fact, transaction);
    await save({ run, annotation }, transaction);
    return { run, annotation };
  });
}
