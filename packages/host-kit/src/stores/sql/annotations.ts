import type { Annotation } from '../../ports/annotations.ts';
import { type Row, text } from './row.ts';

/** Returns the values of `run_id`, `annotation_id` and `document`. */
export function annotationColumns({ runId, annotationId, ...document }: Annotation) {
  return [runId, annotationId, JSON.stringify(document)] as const;
}

export function annotationOf(row: Row): Annotation {
  const ids = { runId: text(row, 'run_id'), annotationId: text(row, 'annotation_id') };
  return { ...JSON.parse(text(row, 'document')), ...ids };
}
