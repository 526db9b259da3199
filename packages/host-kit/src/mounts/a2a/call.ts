import type { AgentCard } from '@a2a-js/sdk';
import type { CallerRuns, MountCaller } from '../caller-runs.ts';
import type { PushConfigs } from './push-configs.ts';

/** The caller of one A2A request, with everything that a method needs to serve it. */
export interface A2aCall {
  readonly card: AgentCard;
  readonly caller: MountCaller;
  readonly runs: CallerRuns;
  readonly push: PushConfigs;
  readonly mintContextId: () => string;
  /** The workflow of a message that names none. Undefined: such a message is rejected. */
  readonly defaultWorkflowId: string | undefined;
  /** The longest time that a response waits for the end of its run, in milliseconds. */
  readonly waitMs: number;
  /** Aborted when the caller disconnects. */
  readonly gone: AbortSignal;
}
