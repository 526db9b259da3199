import type { Webhook } from '../data/shapes.ts';

/** The weight of a state. Each has a word, an icon and a colour; none is told by its colour alone. */
export type Tone = 'good' | 'warn' | 'bad' | 'idle';

/** The state of a subscription in one word, for a badge. */
export interface Standing {
  readonly word: string;
  readonly tone: Tone;
  /** The order in a list of trouble, the worst first. 0: no trouble. */
  readonly weight: number;
}

/** Judges a subscription by its state, its circuit and its failures. */
export function standingOf(webhook: Pick<Webhook, 'state' | 'circuit' | 'failingSince'>): Standing {
  if (webhook.state === 'failed') return { word: 'failed', tone: 'bad', weight: 4 };
  if (webhook.state === 'paused') return { word: 'paused', tone: 'idle', weight: 1 };
  if (webhook.circuit.state !== 'closed') return { word: 'circuit open', tone: 'bad', weight: 3 };
  if (webhook.failingSince !== undefined) return { word: 'failing', tone: 'bad', weight: 2 };
  return { word: 'healthy', tone: 'good', weight: 0 };
}

/** Returns the subscriptions in trouble, the worst first and the longest in trouble before the others. */
export function inTrouble<W extends Pick<Webhook, 'state' | 'circuit' | 'failingSince'>>(webhooks: readonly W[]): W[] {
  return webhooks
    .filter((webhook) => standingOf(webhook).weight > 0)
    .sort(
      (one, other) =>
        standingOf(other).weight - standingOf(one).weight ||
        (one.failingSince ?? '~').localeCompare(other.failingSince ?? '~'),
    );
}

const RUN_TONES: Readonly<Record<string, Tone>> = {
  completed: 'good',
  failed: 'bad',
  cancelled: 'idle',
  paused: 'idle',
};

/** The tone of a run's status. */
export function runTone(status: string): Tone {
  return RUN_TONES[status] ?? (status.startsWith('waiting') ? 'warn' : 'idle');
}

/** The tone of a delivery's state. */
export function deliveryTone(state: string): Tone {
  if (state === 'delivered') return 'good';
  if (state === 'dead-lettered' || state === 'failed') return 'bad';
  return state === 'waiting' ? 'warn' : 'idle';
}

/** Returns whether a run with this status changes no more. */
export function hasEnded(status: string): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}
