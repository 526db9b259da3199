import type { Principal } from '@svc/auth';
import type { EventPosition, PositionedEvent } from '../ports/events.ts';
import type { Run } from '../ports/runs.ts';
import type { Store } from '../ports/store.ts';
import { isWithinReach } from '../runs/find-run.ts';

/** An event of a run that a caller reaches. */
export interface ReachedEvent extends PositionedEvent {
  readonly run: Run;
}

/** The parts of an {@link AllRunsReader}. */
export interface AllRunsReaderOptions {
  readonly store: Pick<Store, 'events' | 'runs'>;
  /** The caller, limited to the workspaces that it may read. */
  readonly principal: Principal;
  /** Events with a higher position are read. */
  readonly after: EventPosition;
  /** The stored names of the types that are read. Undefined: all. */
  readonly types: readonly string[] | undefined;
  /** The bytes of payloads after which a page takes no further event. */
  readonly pageBytes: number;
}

/** Reads the events of all runs that a caller reaches, page by page. */
export class AllRunsReader {
  readonly #options: AllRunsReaderOptions;
  #principal: Principal;
  #position: EventPosition;

  constructor(options: AllRunsReaderOptions) {
    this.#options = options;
    this.#principal = options.principal;
    this.#position = options.after;
  }

  /** The position up to which the events were read. */
  position(): EventPosition {
    return this.#position;
  }

  /** Reads on as a caller whose credential was judged again: its reach may have changed. */
  readAs(principal: Principal): void {
    this.#principal = principal;
  }

  /** Returns the next events of the caller, which may be none of those on a page; undefined at the end. */
  async read(): Promise<readonly ReachedEvent[] | undefined> {
    const { store, types, pageBytes } = this.#options;
    const principal = this.#principal;
    const after = this.#position;
    const { events, last } = await store.events.listAll(principal.tenancy, {
      after,
      limit: PAGE_EVENTS,
      maxBytes: pageBytes,
      ...(types !== undefined && { types }),
    });
    if (!isPast(last, after)) return undefined;
    const runs = await this.#runsOf(principal, events);
    this.#position = last;
    return events.flatMap((positioned) => {
      const run = runs.get(positioned.event.runId);
      return run === undefined ? [] : [{ ...positioned, run }];
    });
  }

  async #runsOf(principal: Principal, events: readonly PositionedEvent[]): Promise<ReadonlyMap<string, Run>> {
    const runIds = [...new Set(events.map(({ event }) => event.runId))];
    const found = await Promise.all(runIds.map((runId) => this.#options.store.runs.read(principal.tenancy, runId)));
    const runs = found.flatMap((lookup) => (lookup.kind === 'found' ? [lookup.value] : []));
    return new Map(runs.filter((run) => isWithinReach(principal, run)).map((run) => [run.runId, run]));
  }
}

/** Whether a position is higher than another. */
export function isPast(position: EventPosition, other: EventPosition): boolean {
  return position.order === other.order ? position.index > other.index : position.order > other.order;
}

/** The events that one page looks at, at most. */
const PAGE_EVENTS = 512;
