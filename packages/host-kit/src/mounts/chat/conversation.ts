import { isJsonObject, type Json, type JsonObject } from '../../json.ts';
import type { RunEvent } from '../../ports/events.ts';
import { isTerminal, type Run } from '../../ports/runs.ts';
import type { CallerRuns, MountCaller } from '../caller-runs.ts';

/** An entry of the history of a conversation, oldest first. */
export interface HistoryEntry {
  /** `user`: a message of the caller. `assistant`: a reply to it. */
  readonly role: 'user' | 'assistant';
  readonly content: Json;
}

/** The bound of the history that a turn gets. */
export interface MemoryLimits {
  /** The most earlier turns. 0: no history. Default 20. */
  readonly turns: number;
  /** The most bytes of their messages and replies, as JSON in UTF-8. Default 32 768. */
  readonly bytes: number;
}

export const MEMORY_DEFAULTS: MemoryLimits = { turns: 20, bytes: 32_768 };

/** Picks the reply from the outputs of a run; undefined for none. */
export type PickReply = (outputs: JsonObject) => Json | undefined;

/**
 * The name under which the runs of a conversation are stored. It contains the principal, so an id that a caller learned
 * or guessed names a conversation of its own and never that of another caller.
 */
export function conversationName(path: string, principalId: string, conversationId: string): string {
  return JSON.stringify([path, principalId, conversationId]);
}

/** The id of the conversation of a turn, as its creation recorded it; undefined for any other run. */
export function conversationIdOf({ metadata }: Run): string | undefined {
  const id = isJsonObject(metadata?.chat) ? metadata.chat.conversationId : undefined;
  return typeof id === 'string' ? id : undefined;
}

/** Reads the earlier turns of a conversation, the oldest first. The oldest turns beyond the limits are left out. */
export async function historyOf(
  runs: CallerRuns,
  caller: MountCaller,
  conversation: string,
  { limits, reply }: { readonly limits: MemoryLimits; readonly reply: PickReply },
): Promise<readonly HistoryEntry[]> {
  if (limits.turns === 0) return [];
  const found = await runs.ofConversation(caller, conversation, limits.turns);
  let room = limits.bytes;
  const entries: HistoryEntry[] = [];
  for (const run of found) {
    const turn = entriesOf(run, replyIn(await endOf(runs, run), reply));
    room -= encoder.encode(JSON.stringify(turn)).length;
    if (room < 0) break;
    entries.unshift(...turn);
  }
  return entries;
}

const encoder = new TextEncoder();

function entriesOf({ inputs }: Run, reply: Json | undefined): readonly HistoryEntry[] {
  const { message = '' } = inputs;
  const said: HistoryEntry = { role: 'user', content: message };
  return reply === undefined ? [said] : [said, { role: 'assistant', content: reply }];
}

/** The event that ended a run; undefined while it has not ended. */
export async function endOf(runs: CallerRuns, run: Run): Promise<RunEvent | undefined> {
  return isTerminal(run.status) ? runs.last(run) : undefined;
}

/** The reply in the event that ended a run; undefined when the run did not complete, or replied nothing. */
export function replyIn(end: RunEvent | undefined, reply: PickReply): Json | undefined {
  const outputs = end?.type === 'run.completed' && isJsonObject(end.payload) ? end.payload.outputs : undefined;
  return isJsonObject(outputs) ? reply(outputs) : undefined;
}
