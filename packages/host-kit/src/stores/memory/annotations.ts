import type { Annotation, AnnotationStore } from '../../ports/annotations.ts';
import { type Journal, put } from './journal.ts';
import type { RecordsOfRuns } from './records-of-runs.ts';

export function annotationStore(journal: Journal): AnnotationStore & RecordsOfRuns {
  const annotations = new Map<string, readonly Annotation[]>();
  const ofRun = (runId: string) => annotations.get(runId) ?? [];

  return {
    async insert(annotation, transaction) {
      put(journal, transaction, annotations, annotation.runId, [...ofRun(annotation.runId), annotation]);
    },
    drop: ({ runId }, transaction) => put(journal, transaction, annotations, runId, undefined),
    count: async ({ runId }) => ofRun(runId).length,
    async list({ runId }, limit) {
      const sorted = [...ofRun(runId)].sort((a, b) => (a.annotationId < b.annotationId ? -1 : 1));
      return sorted.slice(0, limit);
    },
  };
}
