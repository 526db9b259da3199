import type { RunnableCheck } from '../../check.ts';
import { allRuns } from './all-runs.ts';
import { eventLog } from './log.ts';
import { polling } from './polling.ts';
import { streaming } from './streaming.ts';

/** Events of runs: the log, its polls and its streams, and the stream of all runs. */
export const events: readonly RunnableCheck[] = [...eventLog, ...polling, ...streaming, ...allRuns];
