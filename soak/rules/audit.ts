import type { Rule } from './case.ts';

/** The audit log's chain and its checkpoints verify, whatever was killed. */
export const audit: Rule = ({ audits }) =>
  audits.length === 0
    ? ['nobody verified the audit log']
    : audits.flatMap(({ realm, chainValid, checkpointsValid, checkpoints }) => [
        ...(chainValid ? [] : [`the chain is broken (asked by ${realm})`]),
        ...(checkpointsValid ? [] : [`a checkpoint is broken (asked by ${realm})`]),
        ...(checkpoints > 0 ? [] : [`nothing of the log is sealed (asked by ${realm})`]),
      ]);
