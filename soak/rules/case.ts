import type { DeadLetter, Evidence, KnownRun, KnownSubscription, LoggedEvent, Received } from '../evidence.ts';

/** The evidence, indexed for the rules. */
export interface Case extends Evidence {
  readonly run: ReadonlyMap<string, KnownRun>;
  readonly subscription: ReadonlyMap<string, KnownSubscription>;
  readonly passages: readonly Passage[];
}

/** One event on its way to one subscription: a delivery that is due, or one that happened although it was not. */
export interface Passage {
  readonly subscription: KnownSubscription;
  readonly run: KnownRun;
  readonly event: LoggedEvent;
  /** In the order of arrival. */
  readonly received: readonly Received[];
  readonly deadLetter: DeadLetter | undefined;
  /** True when the subscription matches the event and existed for the whole soak. */
  readonly isDue: boolean;
}

/** Returns one sentence for each violation. */
export type Rule = (evidence: Case) => readonly string[];

/** Indexes the evidence. */
export function caseOf(evidence: Evidence): Case {
  const run = new Map(evidence.runs.map((known) => [known.runId, known]));
  const subscription = new Map(evidence.subscriptions.map((known) => [known.name, known]));
  const received = new Map<string, Received[]>();
  for (const request of evidence.received) {
    const key = `${request.name} ${request.runId} ${request.sequence}`;
    const others = received.get(key);
    if (others === undefined) received.set(key, [request]);
    else others.push(request);
  }
  const dead = new Map(evidence.deadLetters.map((letter) => [`${letter.name} ${letter.eventId}`, letter]));
  return { ...evidence, run, subscription, passages: [...passages()] };

  function* passages(): Generator<Passage> {
    for (const known of evidence.runs) {
      for (const heard of evidence.subscriptions) {
        for (const event of known.log) {
          const requests = received.get(`${heard.name} ${known.runId} ${event.sequence}`);
          const deadLetter = dead.get(`${heard.name} ${event.eventId}`);
          const isDue = heard.isStanding && isFor(heard, known, event.type);
          if (requests === undefined && deadLetter === undefined && !isDue) continue;
          yield { subscription: heard, run: known, event, received: requests ?? [], deadLetter, isDue };
        }
      }
    }
  }
}

/** Returns true when a subscription matches an event type of a run. */
export function isFor({ realm, events, tags }: KnownSubscription, run: KnownRun, type: string): boolean {
  if (realm !== run.realm || !events.includes(type)) return false;
  return tags.length === 0 || tags.some((tag) => run.tags.includes(tag));
}

/** Returns true when the receiver verified the request and responded 2xx. */
export function isSuccess({ answer, refusal }: Received): boolean {
  return refusal === undefined && typeof answer === 'number' && answer >= 200 && answer < 300;
}

/** Returns the name of a passage for a finding. */
export function nameOf({ subscription, run, event }: Passage): string {
  return `${subscription.name}: ${run.runId} #${event.sequence} (${event.type})`;
}
