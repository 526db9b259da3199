import type { Chance } from '@svc/tools/chance';
import { DELIVERY, type Exchange, isStream, jsonIn, type Kind, keyOf } from './exchange.ts';
import { fieldOf, framesIn, isEvent } from './frames.ts';
import type { JsonMutation, Mutation, ValueChange } from './mutation.ts';
import { placesIn, valuesAt } from './places.ts';

/** A mutation, and the exchanges that it applies to. */
export interface Mutant {
  readonly kind: Kind;
  readonly mutation: Mutation;
}

/** Recorded exchanges of one kind. */
export interface Recorded {
  readonly kind: Kind;
  readonly exchanges: readonly Exchange[];
}

/** Chooses a kind of exchange, and a mutation of it. Each operation has the same probability, however often it was recorded. */
export function mutant(chance: Chance, recorded: readonly Recorded[]): Mutant {
  const group = pick(chance, [...new Set(recorded.map(({ kind }) => groupOf(kind)))]);
  const of = recorded.filter(({ kind }) => groupOf(kind) === group);
  const major = pick(chance, [...new Set(of.map(({ kind }) => kind.major))]);
  const kinds = of.filter(({ kind }) => kind.major === major);
  // Half of all mutants change an answer that the operation was asked for: refusals are more numerous, and alike.
  const fine = kinds.filter(({ kind }) => (kind.status ?? 200) < 400);
  const from = fine.length > 0 && chance.happens(0.5) ? fine : kinds;
  const { kind, exchanges } = pick(chance, from);
  const exchange = pick(chance, exchanges);
  const acts = ACTS.flatMap((act) => {
    const mutation = act(chance, exchange, { kind, exchanges, recorded });
    return mutation === undefined ? [] : [mutation];
  });
  return { kind, mutation: pick(chance, acts) };
}

/** Methods that no path has are one operation for all paths. */
function groupOf({ operation }: Kind): string {
  return operation.startsWith('PATCH ') ? 'PATCH' : operation;
}

interface Around extends Recorded {
  readonly recorded: readonly Recorded[];
}

/** Returns undefined where the exchange has no place for the mutation. */
type Act = (chance: Chance, exchange: Exchange, around: Around) => Mutation | undefined;

const ACTS: readonly Act[] = [
  (chance, { said }) => headerOf(chance, said.headers, (name) => ({ act: 'drop header', name })),
  (chance, { said }) =>
    headerOf(chance, said.headers, (name, value) => ({
      act: 'change header',
      name,
      to: pick(chance, headerValues(value)),
    })),
  (chance, { said }) =>
    chance.happens(0.3)
      ? headerOf(chance, said.headers, (name, value) => ({ act: 'repeat header', name, also: `${value}x` }))
      : undefined,
  (chance, { said: { status } }) => {
    if (status === undefined) return undefined;
    const to = pick(
      chance,
      STATUSES.filter((other) => other !== status),
    );
    return { act: 'change status', to };
  },
  (_chance, _exchange, { kind }) =>
    kind.detail === 'conditional' && kind.status === 200 ? { act: 'answer 304' } : undefined,
  (chance, { said }) => (said.body.length > 1 && chance.happens(0.2) ? { act: 'cut body' } : undefined),
  // Half of the weight is on bodies, where most of the contract is.
  ...Array.from(
    { length: 4 },
    (): Act =>
      (chance, { said }, { kind }) => {
        const body = jsonIn(said.body);
        if (body === undefined) return undefined;
        const by = ofJson(chance, body);
        return kind.operation === DELIVERY && chance.happens(0.8) ? { act: 'sign again', after: by } : by;
      },
  ),
  (chance, _exchange, { kind }) =>
    kind.operation === DELIVERY
      ? { act: 'sign at another time', bySeconds: pick(chance, [-3600, -301, 301, 86_400]) }
      : undefined,
  ...Array.from({ length: 4 }, (): Act => ofFrames),
  foreign,
];

const STATUSES = [200, 201, 202, 204, 301, 400, 401, 403, 404, 405, 409, 410, 413, 415, 422, 429, 500, 501, 503];

/** Headers of one connection, which no host chooses. */
const OF_HTTP: ReadonlySet<string> = new Set([
  ...['date', 'connection', 'keep-alive', 'content-length', 'transfer-encoding', 'host'],
]);

function headerOf(
  chance: Chance,
  headers: Exchange['said']['headers'],
  make: (name: string, value: string) => Mutation,
): Mutation | undefined {
  const names = Object.keys(headers).filter((name) => !OF_HTTP.has(name));
  if (names.length === 0) return undefined;
  const name = pick(chance, names);
  return make(name, headers[name]?.[0] ?? '');
}

function headerValues(value: string): readonly string[] {
  if (/^[12]\.[0-9]+$/.test(value))
    return [value.startsWith('1') ? '2.0' : '1.1', `${value}.0`, value.slice(0, 1), '3.0'];
  if (/^"/.test(value)) return [`W/${value}`, value.slice(1, -1), '"same"'];
  if (/^[0-9]+$/.test(value)) return [`${Number(value) + 1}`, 'soon', '-1'];
  if (/^application\/json/.test(value)) return ['text/html', 'text/plain', 'application/octet-stream'];
  return [`${value}x`, 'x', value.toUpperCase()];
}

function ofJson(chance: Chance, body: unknown): JsonMutation {
  const places = placesIn(body);
  if (places.length === 0) return { act: 'add member', place: [], name: 'conformanceUnknown' };
  const place = pick(chance, places);
  const [value] = valuesAt(body, place);
  const isItem = place.at(-1) === '*';
  const choices: JsonMutation[] = [
    { act: 'drop member', place },
    { act: 'change member', place, to: pick(chance, changesOf(value)) },
    { act: 'change member', place, to: pick(chance, changesOf(value)) },
    { act: 'change member', place, to: pick(chance, RETYPED) },
    { act: 'add member', place: place.slice(0, -1), name: 'conformanceUnknown' },
    ...(isItem ? [] : [{ act: 'rename member', place, to: `${place.at(-1)}s` } as const]),
    ...(Array.isArray(value) && value.length > 0
      ? ([
          { act: 'drop item', place },
          { act: 'repeat item', place },
        ] as const)
      : []),
    ...(Array.isArray(value) && value.length > 1 ? [{ act: 'reverse items', place } as const] : []),
  ];
  return pick(chance, choices);
}

const RETYPED: readonly ValueChange[] = [
  { how: 'literal', value: null },
  { how: 'as text' },
  { how: 'as number' },
  { how: 'in list' },
  { how: 'literal', value: {} },
];

function changesOf(value: unknown): readonly ValueChange[] {
  if (typeof value === 'boolean') return [{ how: 'flip' }];
  if (typeof value === 'number') {
    return [
      { how: 'plus', number: 1 },
      { how: 'plus', number: 0.5 },
      { how: 'plus', number: -1 - Math.abs(value) },
      { how: 'plus', number: 1000 },
    ];
  }
  if (typeof value !== 'string') return RETYPED;
  return [
    { how: 'append', text: 'x' },
    { how: 'append', text: ' @' },
    { how: 'literal', value: '' },
    { how: 'upper case' },
    ...(/^[\w.-]+\/[\w.~-]+$/.test(value)
      ? ([{ how: 'without tenant' }, { how: 'of tenant', tenant: 'umbrella' }] as const)
      : []),
    ...(/^[0-9]{4}-[0-9]{2}-[0-9]{2}T/.test(value)
      ? ([
          { how: 'literal', value: 'yesterday' },
          { how: 'literal', value: '2026-13-40T00:00:00Z' },
        ] as const)
      : []),
    ...(STATUS_NAMES.includes(value)
      ? STATUS_NAMES.filter((name) => name !== value).map((name) => ({ how: 'literal', value: name }) as const)
      : []),
  ];
}

const STATUS_NAMES = ['pending', 'running', 'paused', 'completed', 'failed', 'cancelling', 'cancelled'];

function ofFrames(chance: Chance, { said }: Exchange): Mutation | undefined {
  if (!isStream(said)) return undefined;
  const events = framesIn(said.body).filter(isEvent);
  const [first] = events;
  if (first === undefined) return undefined;
  const at = chance.below(events.length);
  const data = jsonIn(fieldOf(pick(chance, events), 'data') ?? '');
  const choices: Mutation[] = [
    { act: 'drop frame', at },
    { act: 'repeat frame', at },
    { act: 'end stream', at },
    ...(events.length > 1 ? [{ act: 'swap frames', at: chance.below(events.length - 1) } as const] : []),
    {
      act: 'change field of frames',
      name: pick(chance, ['id', 'event', 'data']),
      to: pick(chance, [
        { how: 'append', text: '1' },
        { how: 'literal', value: '' },
        { how: 'literal', value: '0' },
      ]),
    },
    ...(data === undefined
      ? []
      : [
          { act: 'change frames', by: ofJson(chance, data) } as const,
          { act: 'change frames', by: ofJson(chance, data) } as const,
        ]),
  ];
  return pick(chance, choices);
}

/** Chooses the answer of another exchange: an earlier one of the same kind, or one of the same operation in the other major. */
function foreign(chance: Chance, exchange: Exchange, { kind, exchanges, recorded }: Around): Mutation | undefined {
  if (kind.operation === DELIVERY || isStream(exchange.said)) return undefined;
  const others = exchanges.filter(({ said }) => said.body !== exchange.said.body);
  const across = recorded
    .filter((other) => keyOf({ ...other.kind, major: kind.major }) === keyOf(kind) && other.kind.major !== kind.major)
    .flatMap((other) => other.exchanges);
  const choices = [
    ...(others.length > 0 ? [{ by: pick(chance, others).said, of: 'another exchange' }] : []),
    ...(across.length > 0 ? [{ by: pick(chance, across).said, of: 'the other major' }] : []),
  ];
  return choices.length === 0 ? undefined : { act: 'replace answer', ...pick(chance, choices) };
}

function pick<T>(chance: Chance, items: readonly T[]): T {
  const item = items[chance.below(items.length)];
  if (item === undefined) throw new TypeError('mutants: there is nothing to choose from. Record exchanges first.');
  return item;
}
