import type { AuditPosting, SealableEntry } from '../ports/audit.ts';

/** Returns the postings of new entries. Entries that name no tenant and mode have none: no caller may list them. */
export function postingsOf(entries: readonly SealableEntry[]): readonly AuditPosting[] {
  const places = new Map<string, PlacePostings>();
  for (const { atSequence, action, actor, details } of entries) {
    const { tenant, mode } = details;
    if (typeof tenant !== 'string' || typeof mode !== 'string') continue;
    const name = `${mode} ${tenant}`;
    let place = places.get(name);
    if (place === undefined) {
      place = { tenant, mode, all: [], actions: new Map(), actors: new Map() };
      places.set(name, place);
    }
    place.all.push(atSequence);
    add(place.actions, action, atSequence);
    if (actor !== null) add(place.actors, actor, atSequence);
  }
  const first = entries[0]?.atSequence ?? 1;
  return [...places.values()].flatMap(({ tenant, mode, all, actions, actors }) => [
    { tenant, mode, by: 'tenant' as const, value: '', first, sequences: all },
    ...[...actions].map(([value, sequences]) => ({ tenant, mode, by: 'action' as const, value, first, sequences })),
    ...[...actors].map(([value, sequences]) => ({ tenant, mode, by: 'actor' as const, value, first, sequences })),
  ]);
}

/** The sequences of the entries of a tenant and mode. */
interface PlacePostings {
  readonly tenant: string;
  readonly mode: string;
  readonly all: number[];
  readonly actions: Map<string, number[]>;
  readonly actors: Map<string, number[]>;
}

function add(lists: Map<string, number[]>, value: string, sequence: number): void {
  const list = lists.get(value);
  if (list === undefined) lists.set(value, [sequence]);
  else list.push(sequence);
}
