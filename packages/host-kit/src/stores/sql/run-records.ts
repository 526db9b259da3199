/** The tables with records of runs, and the column that identifies a record within its run. */
export const RECORDS_OF_RUNS = {
  events: 'sequence',
  interrupts: 'interrupt_id',
  artifacts: 'artifact_id',
  annotations: 'annotation_id',
  effect_uses: 'effect_id',
} as const;
