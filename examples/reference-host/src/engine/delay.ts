import { completed, node, type Workflow } from './workflow.ts';

/** Completes a given time after its start, restarts of the host included. */
export const delay: Workflow = {
  refuse({ ms }) {
    if (typeof ms === 'number' && Number.isInteger(ms) && ms >= 0 && ms <= LONGEST_MS) return undefined;
    return { field: 'inputs.ms', problem: `must be a whole number of milliseconds from 0 to ${LONGEST_MS}` };
  },
  async *steps({ ms }, { startedAt, until }) {
    const [started, finished] = node('delay', 'sample.delay', {});
    if (started !== undefined) yield started;
    await until(startedAt + Number(ms));
    if (finished !== undefined) yield finished;
    yield completed({ ms: Number(ms) });
  },
};

const LONGEST_MS = 60_000;
