import type { Check } from '../../check.ts';
import { eventLog } from './log.ts';
import { polling } from './polling.ts';
import { streaming } from './streaming.ts';

/** Events of runs: the log, its polls and its streams. */
export const events: readonly Check[] = [...eventLog, ...polling, ...streaming];
