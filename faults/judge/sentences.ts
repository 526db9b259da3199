import { createHmac } from 'node:crypto';
import { DELIVERY, type Exchange, isRecord, isStream, jsonIn } from '../exchange.ts';
import { fieldOf, framesIn, isEvent } from '../frames.ts';
import type { SecretOf } from '../mutation.ts';
import type { Documents } from './documents.ts';

/** Facts that sentences are judged by. */
export interface Context {
  readonly documents: Documents;
  readonly secretOf: SecretOf;
}

/** One sentence of the interface that a single message can break. */
export interface Sentence {
  /** Id in `docs/requirements.json`. */
  readonly requirement: string;
  /** Tells whether the message breaks it. */
  readonly isBroken: (exchange: Exchange, context: Context) => boolean;
}

/** Every sentence, in the order in which a verdict names them. None of them is taken from the checks of the suite. */
export const SENTENCES: readonly Sentence[] = [
  {
    requirement: 'versioning.response.names-producer',
    isBroken: ({ kind, said, asked }, { documents }) =>
      isAnswer(kind) && only(said, 'svc-version') !== documents.versions[kind.major] && !isPage(said, asked),
  },
  {
    requirement: 'operations.openapi.describes-every-answer',
    isBroken: (exchange, { documents }) => isAnswer(exchange.kind) && !isAsDescribed(exchange, documents),
  },
  {
    requirement: 'errors.envelope.fields',
    isBroken: ({ kind, said, asked }) => {
      if (!isAnswer(kind) || (said.status ?? 0) < 400 || asked.method === 'HEAD') return false;
      const envelope = jsonIn(said.body);
      const known =
        kind.major === 1 ? ['error', 'message', 'details', 'scopeRequired'] : ['error', 'message', 'details'];
      return (
        !/^application\/json\b/.test(said.headers['content-type']?.[0] ?? '') ||
        !isRecord(envelope) ||
        !isCode(envelope.error) ||
        !isText(envelope.message) ||
        Object.keys(envelope).some((name) => !known.includes(name)) ||
        (envelope.details !== undefined && !isRecord(envelope.details))
      );
    },
  },
  {
    requirement: 'errors.envelope.scope-required-403-only',
    isBroken: ({ said }) => said.status !== 403 && /"scopeRequired"/.test(said.body) && (said.status ?? 0) >= 400,
  },
  {
    requirement: 'auth.challenge.every-401',
    isBroken: ({ said }) => said.status === 401 && !/^Bearer\b/i.test(said.headers['www-authenticate']?.[0] ?? ''),
  },
  {
    requirement: 'auth.challenge.insufficient-scope',
    isBroken: ({ said }) =>
      said.status === 403 &&
      /"scopeRequired"/.test(said.body) &&
      !/\berror="insufficient_scope"/.test(said.headers['www-authenticate']?.[0] ?? ''),
  },
  {
    requirement: 'versioning.paths.method-of-other-major',
    isBroken: ({ kind, said, asked }, { documents }) => {
      if (said.status !== 405 || !isAnswer(kind)) return false;
      const allowed = (said.headers.allow ?? []).flatMap((value) => value.split(',')).map((name) => name.trim());
      const methods = documents.methodsOf(kind.operation.split(' ')[1] ?? '', kind.major);
      return methods.some((name) => !allowed.includes(name)) || allowed.includes(asked.method);
    },
  },
  {
    requirement: 'versioning.request.unlisted-major-406',
    isBroken: ({ said }, { documents }) => {
      if (said.status !== 406) return false;
      const listed = at(jsonIn(said.body), 'details', 'protocolVersions');
      return !sameItems(listed, Object.values(documents.versions));
    },
  },
  {
    requirement: 'errors.code.rate-limited',
    isBroken: ({ said }) => said.status === 429 && !/^[0-9]+$/.test(only(said, 'retry-after') ?? ''),
  },
  {
    requirement: 'discovery.document.not-modified',
    isBroken: ({ said, asked }) =>
      said.status === 304 &&
      (said.body !== '' || !valuesIn(asked.headers['if-none-match']).includes(only(said, 'etag') ?? '')),
  },
  {
    requirement: 'discovery.document.strong-etag',
    isBroken: ({ kind, said }) => isDiscovery(kind) && !/^"[^"]+"$/.test(only(said, 'etag') ?? ''),
  },
  {
    requirement: 'discovery.document.cache-control',
    isBroken: ({ kind, said }) => isDiscovery(kind) && only(said, 'cache-control') !== 'public, max-age=300',
  },
  {
    requirement: 'discovery.document.vary',
    isBroken: ({ kind, said }) => isDiscovery(kind) && !lists(said, 'vary', 'svc-version'),
  },
  {
    requirement: 'discovery.document.advertise-only-served',
    isBroken: ({ kind, said, asked }, { documents }) =>
      isDiscovery(kind) &&
      said.status === 200 &&
      asked.method !== 'HEAD' &&
      !documents.fits('discovery', kind.major, jsonIn(said.body)),
  },
  {
    requirement: 'events.stream.headers',
    isBroken: ({ kind, said }) =>
      kind.detail === 'stream' && (!isStream(said) || !/\bno-(store|cache)\b/.test(only(said, 'cache-control') ?? '')),
  },
  { requirement: 'events.stream.frames', isBroken: (exchange) => isPlainStream(exchange) && !areOrdered(exchange) },
  {
    requirement: 'events.schema.published',
    isBroken: (exchange, { documents }) =>
      isPlainStream(exchange) &&
      eventsIn(exchange).some(
        (event) =>
          !documents.fits('webhook-delivery', exchange.kind.major, {
            runId: at(event, 'runId') ?? null,
            workspaceId: 'any',
            // A message whose data are not JSON has no event.
            event: event ?? null,
          }),
      ),
  },
  {
    requirement: 'events.stream.ends-with-run',
    isBroken: (exchange) => {
      if (!isPlainStream(exchange)) return false;
      const types = eventsIn(exchange).map((event) => at(event, 'type'));
      return !TERMINAL.includes(String(types.at(-1)));
    },
  },
  {
    requirement: 'events.poll.cursor',
    isBroken: ({ kind, said, asked }) => {
      if (!/\/events\/poll$/.test(kind.operation) || said.status !== 200) return false;
      const after = Number(/[?&](?:lastSequence|afterSequence)=(-?[0-9]+)/.exec(asked.target)?.[1] ?? -1);
      const events = at(jsonIn(said.body), 'events');
      const sequences = Array.isArray(events) ? events.map((event) => Number(at(event, 'sequence'))) : [Number.NaN];
      return sequences.some((sequence, index) => !(sequence > (sequences[index - 1] ?? after)));
    },
  },
  {
    requirement: 'events.poll.body',
    isBroken: ({ kind, said }) => {
      if (!/\/events\/poll$/.test(kind.operation) || said.status !== 200) return false;
      const page = jsonIn(said.body);
      const events = at(page, 'events');
      if (!Array.isArray(events)) return true;
      if (kind.major === 1) return typeof at(page, 'isComplete') !== 'boolean';
      const isTerminal = ENDED.includes(String(at(page, 'status')));
      const last = events.at(-1);
      return (
        at(page, 'isTerminal') !== isTerminal ||
        (last !== undefined && at(page, 'lastSequence') !== at(last, 'sequence')) ||
        events.some((event) => at(event, 'runId') !== at(page, 'runId'))
      );
    },
  },
  {
    requirement: 'versioning.ids.projection',
    isBroken: ({ kind, said, asked }) => {
      if (!isAnswer(kind) || (said.status ?? 0) >= 300) return false;
      const runId = at(jsonIn(said.body), 'runId');
      const named = /^\/runs\/\{runId\}/.test(kind.operation.split(' ')[1] ?? '')
        ? /^(?:\/v1)?\/runs\/([^/:?]+)/.exec(asked.target)?.[1]
        : undefined;
      if (named === undefined || typeof runId !== 'string' || /:fork$/.test(kind.operation)) return false;
      const asBound = decodeURIComponent(named).replace(/~([0-9A-F]{2})/g, (_, hex) =>
        String.fromCharCode(Number.parseInt(hex, 16)),
      );
      return kind.major === 2 ? runId !== asBound && !runId.endsWith(`/${asBound}`) : runId !== asBound;
    },
  },
  {
    requirement: 'webhooks.headers.overlap-sends-both',
    isBroken: ({ kind, said }) =>
      isDelivery(kind) &&
      FIELDS.some((field) => one(said, `svc-${field}`) === undefined || one(said, `x-svc-${field}`) === undefined),
  },
  {
    requirement: 'webhooks.headers.families-identical',
    isBroken: ({ kind, said }) =>
      isDelivery(kind) && FIELDS.some((field) => one(said, `svc-${field}`) !== one(said, `x-svc-${field}`)),
  },
  {
    requirement: 'webhooks.headers.values',
    isBroken: ({ kind, said }, { secretOf }) =>
      isDelivery(kind) &&
      (one(said, 'svc-event-type') !== at(jsonIn(said.body), 'event', 'type') ||
        one(said, 'svc-signature-algorithm') !== 'v1' ||
        secretOf(one(said, 'svc-webhook-id') ?? '') === undefined),
  },
  {
    requirement: 'webhooks.headers.timestamp',
    isBroken: ({ kind, said, at: time }) => {
      if (!isDelivery(kind)) return false;
      const stamp = one(said, 'svc-timestamp') ?? '';
      return !/^[0-9]+$/.test(stamp) || Math.abs(time / 1000 - Number(stamp)) > 300;
    },
  },
  {
    requirement: 'webhooks.headers.signature',
    isBroken: ({ kind, said }, { secretOf }) => {
      const secret = secretOf(one(said, 'svc-webhook-id') ?? '');
      if (!isDelivery(kind) || secret === undefined) return false;
      const text = `${one(said, 'svc-timestamp')}.${said.body}`;
      return one(said, 'svc-signature') !== `sha256=${createHmac('sha256', secret).update(text).digest('hex')}`;
    },
  },
  {
    requirement: 'webhooks.delivery.request-headers',
    isBroken: ({ kind, said }) =>
      isDelivery(kind) &&
      (!/^application\/json\b/.test(one(said, 'content-type') ?? '') ||
        !/^svc-webhook-dispatcher\/\S+$/.test(one(said, 'user-agent') ?? '')),
  },
  {
    requirement: 'events.schema.published',
    isBroken: ({ kind, said }, { documents }) =>
      isDelivery(kind) && !documents.fits('webhook-delivery', kind.major, jsonIn(said.body)),
  },
  {
    requirement: 'webhooks.body.event-verbatim',
    isBroken: ({ kind, said }) => {
      const body = jsonIn(said.body);
      return isDelivery(kind) && at(body, 'runId') !== at(body, 'event', 'runId');
    },
  },
];

const FIELDS = ['webhook-id', 'event-type', 'timestamp', 'signature', 'signature-algorithm'];
const ENDED = ['completed', 'failed', 'cancelled'];
const TERMINAL = ['run.completed', 'run.failed', 'run.cancelled'];

function isAnswer({ operation }: Exchange['kind']): boolean {
  return operation !== DELIVERY;
}

/** Deliveries of Standard Webhooks have headers of their own, and a challenge is no event. */
function isDelivery({ operation, detail }: Exchange['kind']): boolean {
  return operation === DELIVERY && detail === '';
}

function isDiscovery({ operation, status }: Exchange['kind']): boolean {
  return operation === 'GET /.well-known/svc' && status === 200;
}

function isPage({ headers }: Exchange['said'], asked: Exchange['asked']): boolean {
  return headers['content-type']?.[0]?.startsWith('text/html') === true && asked.headers.accept !== undefined;
}

/** A stream of the default mode that was read from the beginning to its end. */
function isPlainStream({ kind, asked, said }: Exchange): boolean {
  return (
    kind.detail === 'stream' &&
    kind.operation === 'GET /runs/{runId}/events' &&
    !/streamMode|bufferMs/.test(asked.target) &&
    asked.headers['last-event-id'] === undefined &&
    said.status === 200
  );
}

function eventsIn({ said }: Exchange): readonly unknown[] {
  return framesIn(said.body)
    .filter(isEvent)
    .map((frame) => jsonIn(fieldOf(frame, 'data') ?? ''));
}

/** Each message has the sequence as its id and the type as its name; sequences rise. The default mode leaves events out. */
function areOrdered({ said }: Exchange): boolean {
  return framesIn(said.body)
    .filter(isEvent)
    .every((frame, index, frames) => {
      const event = jsonIn(fieldOf(frame, 'data') ?? '');
      const sequence = at(event, 'sequence');
      const previous = frames[index - 1];
      const before = previous === undefined ? -1 : Number(fieldOf(previous, 'id'));
      return (
        fieldOf(frame, 'id') === String(sequence) &&
        fieldOf(frame, 'event') === at(event, 'type') &&
        Number(sequence) > before
      );
    });
}

function isAsDescribed({ kind, said, asked }: Exchange, documents: Documents): boolean {
  const { status = 0, headers } = said;
  if (!documents.describes(kind.operation, kind.major)) return status >= 400;
  const described = documents.answerOf(kind.operation, kind.major, status);
  if (described === undefined) return false;
  if (described.requiredHeaders.some((name) => headers[name.toLowerCase()] === undefined)) return false;
  if (described.mediaTypes.length === 0) return said.body === '';
  const mediaType = headers['content-type']?.[0]?.split(';', 1)[0] ?? '';
  const type = described.mediaTypes.find((each) => each === mediaType || each === mediaType.replace(/\/.*$/, '/*'));
  if (type === undefined) return false;
  if (asked.method === 'HEAD' || !/json$/.test(type)) return true;
  return described.fits(type, jsonIn(said.body));
}

/** Returns the value of a header that must not be repeated; undefined when it is missing or repeated with another value. */
function only({ headers }: Exchange['said'], name: string): string | undefined {
  const [value, ...more] = headers[name] ?? [];
  return more.some((other) => other !== value) ? undefined : value;
}

/** Returns the value of a header of a delivery, which is sent once. */
function one({ headers }: Exchange['said'], name: string): string | undefined {
  const values = headers[name] ?? [];
  return values.length === 1 ? values[0] : undefined;
}

function lists({ headers }: Exchange['said'], name: string, item: string): boolean {
  return (headers[name] ?? []).some((value) =>
    value
      .toLowerCase()
      .split(/\s*,\s*/)
      .includes(item),
  );
}

function valuesIn(value: string | string[] | undefined): readonly string[] {
  return [value ?? []].flat().flatMap((each) => each.split(/\s*,\s*/));
}

function at(value: unknown, ...names: readonly string[]): unknown {
  return names.reduce<unknown>((from, name) => (isRecord(from) ? from[name] : undefined), value);
}

function isCode(value: unknown): boolean {
  return typeof value === 'string' && /^[a-z0-9_.-]{1,64}$/.test(value);
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

function sameItems(value: unknown, expected: readonly string[]): boolean {
  return Array.isArray(value) && JSON.stringify([...value].sort()) === JSON.stringify([...expected].sort());
}
