import type { Rule } from './case.ts';

/** The chain and the checkpoints of the audit log verify. */
export const audit: Rule = ({ audits }) =>
  audits.length === 0
    ? ['the audit log was not verified']
    : audits.flatMap(({ realm, chainValid, checkpointsValid, checkpoints }) => [
        ...(chainValid ? [] : [`the chain is broken (seen by ${realm})`]),
        ...(checkpointsValid ? [] : [`a checkpoint is broken (seen by ${realm})`]),
        ...(checkpoints > 0 ? [] : [`the log has no checkpoint (seen by ${realm})`]),
      ]);
