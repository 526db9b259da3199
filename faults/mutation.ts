import { createHmac } from 'node:crypto';
import { type Exchange, isRecord, isStream, jsonIn, type Said } from './exchange.ts';
import { type Frame, fieldOf, framesIn, isEvent, textOf } from './frames.ts';
import { type Place, replacedAt } from './places.ts';

/** A change of a message of the host, as data. */
export type Mutation =
  | { readonly act: 'drop header'; readonly name: string }
  | { readonly act: 'change header'; readonly name: string; readonly to: string }
  | { readonly act: 'repeat header'; readonly name: string; readonly also: string }
  | { readonly act: 'change status'; readonly to: number }
  | { readonly act: 'answer 304' }
  | { readonly act: 'cut body' }
  /** Always gives the answer of another exchange: of another run, of another tenant, or of the other major. */
  | { readonly act: 'replace answer'; readonly by: Said; readonly of: string }
  | JsonMutation
  /** Changes the JSON of every message of a stream. */
  | { readonly act: 'change frames'; readonly by: JsonMutation }
  | { readonly act: 'change field of frames'; readonly name: string; readonly to: ValueChange }
  | { readonly act: 'drop frame' | 'repeat frame' | 'swap frames' | 'end stream'; readonly at: number }
  /** Changes a delivery and signs it again. */
  | { readonly act: 'sign again'; readonly after: JsonMutation }
  | { readonly act: 'sign at another time'; readonly bySeconds: number };

/** A change of a JSON body. */
export type JsonMutation =
  | { readonly act: 'drop member'; readonly place: Place }
  | { readonly act: 'rename member'; readonly place: Place; readonly to: string }
  | { readonly act: 'change member'; readonly place: Place; readonly to: ValueChange }
  | { readonly act: 'add member'; readonly place: Place; readonly name: string }
  | { readonly act: 'drop item' | 'repeat item' | 'reverse items'; readonly place: Place };

/** A change of one value. */
export type ValueChange =
  | { readonly how: 'literal'; readonly value: unknown }
  | { readonly how: 'plus'; readonly number: number }
  | { readonly how: 'append'; readonly text: string }
  | { readonly how: 'upper case' | 'flip' | 'as text' | 'as number' | 'in list' | 'without tenant' }
  | { readonly how: 'of tenant'; readonly tenant: string };

/** Signs the body of a delivery for its subscription. Undefined: the secret is not known. */
export type SecretOf = (webhookId: string) => string | undefined;

/** Applies a mutation to a message. Returns the message itself when the mutation does not apply to it. */
export function mutated(
  mutation: Mutation,
  { said, asked }: Pick<Exchange, 'said' | 'asked'>,
  secretOf: SecretOf,
): Said {
  switch (mutation.act) {
    case 'drop header':
      return withHeaders(said, { [mutation.name]: undefined });
    case 'change header':
      return said.headers[mutation.name] === undefined ? said : withHeaders(said, { [mutation.name]: [mutation.to] });
    case 'repeat header': {
      const values = said.headers[mutation.name];
      return values === undefined ? said : withHeaders(said, { [mutation.name]: [...values, mutation.also] });
    }
    case 'change status':
      return { ...said, status: mutation.to };
    case 'answer 304':
      return asked.headers['if-none-match'] === undefined ? said : { ...said, status: 304, body: '' };
    case 'cut body':
      return said.body === '' ? said : { ...said, body: said.body.slice(0, Math.floor(said.body.length / 2)) };
    case 'replace answer':
      return mutation.by;
    case 'change frames':
    case 'change field of frames':
    case 'drop frame':
    case 'repeat frame':
    case 'swap frames':
    case 'end stream':
      return isStream(said) ? { ...said, body: textOf(framesAfter(mutation, framesIn(said.body))) } : said;
    case 'sign again':
      return signed({ ...said, body: jsonAfter(mutation.after, said.body) }, secretOf);
    case 'sign at another time': {
      const time = Number(said.headers['svc-timestamp']?.[0] ?? Number.NaN) + mutation.bySeconds;
      const value = [String(time)];
      return signed(withHeaders(said, { 'svc-timestamp': value, 'x-svc-timestamp': value }), secretOf);
    }
    default:
      return { ...said, body: jsonAfter(mutation, said.body) };
  }
}

function withHeaders(said: Said, changes: Readonly<Record<string, readonly string[] | undefined>>): Said {
  const entries = Object.entries({ ...said.headers, ...changes });
  const headers: Record<string, readonly string[]> = {};
  for (const [name, values] of entries) if (values !== undefined) headers[name] = values;
  return { ...said, headers };
}

function jsonAfter(mutation: JsonMutation, body: string): string {
  const before = jsonIn(body);
  if (before === undefined) return body;
  const after = valueAfter(mutation, before);
  // The text stays as it is where nothing changes: another spelling would be another mutation.
  return JSON.stringify(after) === JSON.stringify(before) ? body : JSON.stringify(after);
}

function valueAfter(mutation: JsonMutation, value: unknown): unknown {
  const { place } = mutation;
  const inList = (change: (items: readonly unknown[]) => readonly unknown[]) =>
    place.length === 0
      ? Array.isArray(value)
        ? change(value)
        : value
      : replacedAt(value, place, (list) => ({ by: Array.isArray(list) ? change(list) : list }));
  switch (mutation.act) {
    case 'drop member':
      return replacedAt(value, place, () => undefined);
    case 'rename member':
      return renamed(value, place, mutation.to);
    case 'change member':
      return replacedAt(value, place, (member) => ({ by: valueChanged(mutation.to, member) }));
    case 'add member': {
      const added = (at: unknown) => (isRecord(at) ? { ...at, [mutation.name]: true } : at);
      return place.length === 0 ? added(value) : replacedAt(value, place, (at) => ({ by: added(at) }));
    }
    case 'drop item':
      return inList((items) => items.slice(1));
    case 'repeat item':
      return inList((items) => [...items.slice(0, 1), ...items]);
    case 'reverse items':
      return inList((items) => [...items].reverse());
  }
}

function renamed(value: unknown, place: Place, to: string): unknown {
  const parent = place.slice(0, -1);
  const name = place.at(-1) ?? '';
  const inOwner = (owner: unknown): unknown =>
    isRecord(owner)
      ? Object.fromEntries(Object.entries(owner).map(([key, member]) => [key === name ? to : key, member]))
      : owner;
  return parent.length === 0 ? inOwner(value) : replacedAt(value, parent, (owner) => ({ by: inOwner(owner) }));
}

/** Changes one value. A change that does not fit its type leaves it as it is. */
export function valueChanged(change: ValueChange, value: unknown): unknown {
  switch (change.how) {
    case 'literal':
      return change.value;
    case 'plus':
      return typeof value === 'number' ? value + change.number : value;
    case 'append':
      return typeof value === 'string' ? value + change.text : value;
    case 'upper case':
      return typeof value === 'string' ? value.toUpperCase() : value;
    case 'flip':
      return typeof value === 'boolean' ? !value : value;
    case 'as text':
      return typeof value === 'string' ? value : JSON.stringify(value);
    case 'as number':
      return typeof value === 'number' ? value : 1;
    case 'in list':
      return [value];
    case 'without tenant':
      return typeof value === 'string' ? value.slice(value.indexOf('/') + 1) : value;
    case 'of tenant':
      return typeof value === 'string' ? `${change.tenant}/${value.slice(value.indexOf('/') + 1)}` : value;
  }
}

/** Mutations of the messages of a stream. */
export type FrameMutation = Extract<
  Mutation,
  {
    readonly act:
      | 'change frames'
      | 'change field of frames'
      | 'drop frame'
      | 'repeat frame'
      | 'swap frames'
      | 'end stream';
  }
>;

export function isOfFrames(mutation: Mutation): mutation is FrameMutation {
  return FRAME_ACTS.has(mutation.act);
}

const FRAME_ACTS: ReadonlySet<string> = new Set([
  'change frames',
  'change field of frames',
  'drop frame',
  'repeat frame',
  'swap frames',
  'end stream',
]);

/**
 * Makes the change of one stream, message by message. It keeps a message back where two are swapped.
 *
 * @returns the function for `changing`
 */
export function frameChange(mutation: FrameMutation): (frame: Frame, index: number) => readonly Frame[] | undefined {
  let held: Frame | undefined;
  return (frame, index) => {
    if (!isEvent(frame)) return [frame];
    switch (mutation.act) {
      case 'change frames':
        return [withField(frame, 'data', jsonAfter(mutation.by, fieldOf(frame, 'data') ?? ''))];
      case 'change field of frames': {
        const before = fieldOf(frame, mutation.name);
        return before === undefined ? [frame] : [withField(frame, mutation.name, valueChanged(mutation.to, before))];
      }
      case 'drop frame':
        return index === mutation.at ? [] : [frame];
      case 'repeat frame':
        return index === mutation.at ? [frame, frame] : [frame];
      case 'end stream':
        return index < mutation.at ? [frame] : undefined;
      case 'swap frames': {
        if (index === mutation.at) {
          held = frame;
          return [];
        }
        const before = held;
        held = undefined;
        return before === undefined ? [frame] : [frame, before];
      }
    }
  };
}

function framesAfter(mutation: FrameMutation, frames: readonly Frame[]): readonly Frame[] {
  const change = frameChange(mutation);
  const after: Frame[] = [];
  let index = 0;
  for (const frame of frames) {
    const next = change(frame, index);
    if (isEvent(frame)) index += 1;
    if (next === undefined) break;
    after.push(...next);
  }
  return after;
}

function withField(frame: Frame, name: string, value: unknown): Frame {
  return frame.map(([each, before]) => [each, each === name ? String(value) : before] as const);
}

/** Signs a delivery as its host would. */
function signed(said: Said, secretOf: SecretOf): Said {
  const secret = secretOf(said.headers['svc-webhook-id']?.[0] ?? '');
  if (secret === undefined) return said;
  const time = said.headers['svc-timestamp']?.[0] ?? '';
  const value = [`sha256=${createHmac('sha256', secret).update(`${time}.${said.body}`).digest('hex')}`];
  return withHeaders(said, { 'svc-signature': value, 'x-svc-signature': value });
}

/** Describes a mutation in one line. */
export function described(mutation: Mutation): string {
  switch (mutation.act) {
    case 'drop header':
      return `without the header ${mutation.name}`;
    case 'change header':
      return `with the header ${mutation.name}: ${mutation.to}`;
    case 'repeat header':
      return `with the header ${mutation.name} repeated as ${mutation.also}`;
    case 'change status':
      return `with the status ${mutation.to}`;
    case 'answer 304':
      return 'as 304 to any If-None-Match';
    case 'cut body':
      return 'with half of its body';
    case 'replace answer':
      return `with the answer of ${mutation.of}`;
    case 'change frames':
      return `in every message: ${described(mutation.by)}`;
    case 'change field of frames':
      return `with ${mutation.name}: of every message changed (${JSON.stringify(mutation.to)})`;
    case 'drop frame':
    case 'repeat frame':
    case 'swap frames':
    case 'end stream':
      return `${mutation.act} at ${mutation.at}`;
    case 'sign again':
      return `signed again after: ${described(mutation.after)}`;
    case 'sign at another time':
      return `signed ${mutation.bySeconds} s later`;
    case 'rename member':
      return `${pathOf(mutation.place)} renamed to ${mutation.to}`;
    case 'change member':
      return `${pathOf(mutation.place)} changed (${JSON.stringify(mutation.to).slice(0, 120)})`;
    case 'add member':
      return `${pathOf(mutation.place)} with the member ${mutation.name}`;
    default:
      return `${mutation.act} ${pathOf(mutation.place)}`;
  }
}

function pathOf(place: Place): string {
  return place.length === 0 ? 'the body' : place.join('.');
}
