import type { Run } from './runs.ts';
import type { Transaction } from './transaction.ts';

/** A judgement of a run by a person or an agent. */
export type AnnotationSignal =
  | { readonly kind: 'rating'; readonly rating: number }
  | { readonly kind: 'correction'; readonly correction: string }
  | { readonly kind: 'label'; readonly label: string }
  | { readonly kind: 'flag' };

/** A stored judgement of a run, or of one of its events or nodes. It is no event of the log, and never changes. */
export interface Annotation {
  /** Sorts by time of creation. */
  readonly annotationId: string;
  readonly runId: string;
  /** The event that is judged. Absent: none. */
  readonly eventId?: string;
  /** The node that is judged. Absent: none. */
  readonly nodeId?: string;
  readonly signal: AnnotationSignal;
  readonly note?: string;
  /** The principal that judged. */
  readonly actor: string;
  /** In ms since the epoch. */
  readonly createdAt: number;
}

/** The annotations of all runs. Each method trusts its caller to have the right to the run. */
export interface AnnotationStore {
  insert(annotation: Annotation, transaction: Transaction): Promise<void>;
  /** Counts the annotations of a run. */
  count(run: Pick<Run, 'runId'>, transaction: Transaction): Promise<number>;
  /** Returns up to `limit` annotations of a run by ascending `annotationId`, which is the order of their creation. */
  list(run: Pick<Run, 'runId'>, limit: number): Promise<readonly Annotation[]>;
}
