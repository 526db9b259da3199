import type { Run, RunFailure, RunStatus } from '../../runs/run.ts';
import { integer, optional, type Row, text } from './row.ts';

type Document = Omit<
  Run,
  'runId' | 'tenant' | 'workspace' | 'mode' | 'status' | 'lastSequence' | 'startedAt' | 'completedAt' | 'error'
>;

/** What never changes of a run, as it is stored. */
export function documentOf(run: Run): string {
  const { workflowId, owner, inputs, configurable, tags, metadata, engineVersion, eventLogSchemaVersion, createdAt } =
    run;
  const document = {
    workflowId,
    owner,
    inputs,
    configurable,
    tags,
    metadata,
    engineVersion,
    eventLogSchemaVersion,
    createdAt,
  };
  return JSON.stringify(document);
}

export function runOf(row: Row): Run {
  const document: Document = JSON.parse(text(row, 'document'));
  const workspace = optional(row, 'workspace', text);
  const startedAt = optional(row, 'started_at', integer);
  const completedAt = optional(row, 'completed_at', integer);
  const error = optional(row, 'error', text);
  return {
    ...document,
    runId: text(row, 'run_id'),
    tenant: text(row, 'tenant'),
    ...(workspace !== undefined && { workspace }),
    mode: text(row, 'mode') === 'test' ? 'test' : 'live',
    status: text(row, 'status') as RunStatus,
    lastSequence: integer(row, 'last_sequence'),
    ...(startedAt !== undefined && { startedAt }),
    ...(completedAt !== undefined && { completedAt }),
    ...(error !== undefined && { error: JSON.parse(error) as RunFailure }),
  };
}
