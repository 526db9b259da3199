import type { LaneClass, OutcomeReport, RefusalReason } from '@svc/auth';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';

/** A trouble of authentication that an operator should know of. */
export type Incident = keyof typeof INCIDENTS;

/** The parts of {@link incidents}. */
export interface IncidentsOptions {
  readonly log: Log;
  readonly clock: Clock;
  /** Called when an incident begins. */
  readonly begun: (incident: Incident) => void;
}

/** Finds incidents in refusals. */
export interface Incidents {
  /** Takes every decision: accepted callers show that the clock is right. */
  note(report: OutcomeReport): void;
  /** Notices nothing more. */
  end(): void;
}

/**
 * Finds incidents in refusals. The log has the begin of each as `authentication.<incident>`, and its end as
 * `authentication.<incident>-ended` when a minute had no sign of it. The clock of the host counts as wrong when the dates of
 * several clients are, and when they are no small part of the signed credentials.
 */
export function incidents({ log, clock, begun }: IncidentsOptions): Incidents {
  const active = new Map<Incident, Active>();
  const dated = new DatedCredentials(clock);
  let isEnded = false;

  return {
    note(report) {
      if (isEnded) return;
      if (report.kind === 'authenticated') {
        if (SIGNED.has(report.lane)) dated.accept();
        return;
      }
      const incident = BY_REASON.get(report.reason);
      if (incident === undefined) return;
      if (incident === 'clock-off') dated.refuse(report.client);
      if (incident === 'clock-off' && !active.has(incident) && !dated.accuseTheHost()) return;
      const known = active.get(incident);
      if (known === undefined) begin(incident);
      else {
        known.count += 1;
        known.isFresh = true;
      }
    },
    end() {
      isEnded = true;
      for (const { cancel } of active.values()) cancel();
      active.clear();
    },
  };

  function begin(incident: Incident): void {
    const state: Active = { since: clock.monotonic(), count: 1, isFresh: false, cancel: () => {} };
    active.set(incident, state);
    begun(incident);
    log({ level: 'warn', event: `authentication.${incident}`, message: INCIDENTS[incident].message });
    look(incident, state);
  }

  function look(incident: Incident, state: Active): void {
    state.cancel = clock.after(QUIET_MS, () => {
      if (state.isFresh) {
        state.isFresh = false;
        look(incident, state);
        return;
      }
      active.delete(incident);
      const forMs = Math.round(clock.monotonic() - state.since);
      log({ level: 'info', event: `authentication.${incident}-ended`, refused: state.count, forMs });
    });
  }
}

/** Each incident with the reasons that are its signs. */
const INCIDENTS = {
  'issuer-away': {
    reasons: ['issuer'],
    message:
      'The keys of an issuer of tokens cannot be fetched, so its tokens get 503. The record authentication.failed names the cause.',
  },
  'status-list-away': {
    reasons: ['status-list'],
    message:
      'A status list of an issuer cannot be used, so the tokens in it get 503. The record authentication.failed names the cause.',
  },
  'key-store-away': {
    reasons: ['key-store'],
    message: 'The store of API keys fails, so API keys get 503. The record authentication.failed names the cause.',
  },
  'directory-away': {
    reasons: ['directory'],
    message:
      'A directory of accounts or workloads fails, so its callers are refused. The record authentication.failed names the cause.',
  },
  'replay-store-away': {
    reasons: ['replay-store'],
    message:
      'The store of used DPoP proofs fails, so bound tokens get 503. The record authentication.failed names the cause.',
  },
  'replay-store-full': {
    reasons: ['replay-store-full'],
    message:
      'The store of used DPoP proofs is full, so bound tokens get 503 until proofs expire. Find the caller that sends so many.',
  },
  'budget-exhausted': {
    reasons: ['budget'],
    message:
      'A client used up its budget of refusals, and gets 429. The records authentication.refused tell what it sends. Check trustedProxies if many clients share one address.',
  },
  'clock-off': {
    reasons: ['time', 'proof-time'],
    message:
      'Credentials of several clients are dated outside of the accepted time, so the clock of this host may be wrong. Compare it with a time server.',
  },
} as const satisfies Readonly<Record<string, { readonly reasons: readonly RefusalReason[]; readonly message: string }>>;

const BY_REASON: ReadonlyMap<RefusalReason, Incident> = new Map(
  names().flatMap((incident) => INCIDENTS[incident].reasons.map((reason) => [reason, incident] as const)),
);

function names(): readonly Incident[] {
  return Object.keys(INCIDENTS).filter((name): name is Incident => Object.hasOwn(INCIDENTS, name));
}

/** The credentials that are dated wrongly, and the signed ones that are accepted, in the current minute. */
class DatedCredentials {
  readonly #clock: Clock;
  readonly #clients = new Set<number>();
  #refused = 0;
  #accepted = 0;
  #since = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  accept(): void {
    this.#begin();
    this.#accepted += 1;
  }

  refuse(client: number | undefined): void {
    this.#begin();
    this.#refused += 1;
    if (client !== undefined) this.#clients.add(client);
  }

  /** On a host with many callers, some clocks are always wrong: they are few beside the accepted callers. */
  accuseTheHost(): boolean {
    return this.#clients.size >= CLIENTS_OF_A_CLOCK && this.#refused >= this.#accepted * SHARE_OF_A_CLOCK;
  }

  #begin(): void {
    const now = this.#clock.monotonic();
    if (now - this.#since < QUIET_MS) return;
    this.#since = now;
    this.#clients.clear();
    this.#refused = 0;
    this.#accepted = 0;
  }
}

interface Active {
  readonly since: number;
  count: number;
  /** Whether there was a sign since the last look. */
  isFresh: boolean;
  cancel: () => void;
}

/** The lanes whose credentials are dated. */
const SIGNED: ReadonlySet<LaneClass> = new Set(['bearer-token', 'workload']);

const QUIET_MS = 60_000;
const CLIENTS_OF_A_CLOCK = 5;
const SHARE_OF_A_CLOCK = 0.1;
