import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { DELIVERY, type Exchange, kindOfAnswer, kindOfDelivery, operations, type Said } from '../exchange.ts';
import type { Mutation } from '../mutation.ts';
import { documentsOf } from './documents.ts';
import { brokenAsRecorded, judge } from './judge.ts';
import { SENTENCES } from './sentences.ts';

const text = { schema: { type: 'string', minLength: 1 } };
const answer = (properties: object, required: readonly string[]) => ({
  headers: { 'SVC-Version': { $ref: '#/components/headers/SVC-Version' } },
  content: { 'application/json': { schema: { type: 'object', properties, required } } },
});
const REFUSAL = answer({ error: text.schema, message: { $ref: '#/components/schemas/Text' } }, ['error', 'message']);
const REFUSALS = Object.fromEntries([401, 403, 404, 405, 406, 429].map((status) => [status, REFUSAL]));
const stream = {
  headers: { 'SVC-Version': { $ref: '#/components/headers/SVC-Version' } },
  content: { 'text/event-stream': {} },
};
const unchanged = { headers: { 'SVC-Version': { $ref: '#/components/headers/SVC-Version' } } };

const describedIn = (prefix: string) =>
  JSON.stringify({
    components: { headers: { 'SVC-Version': { required: true } }, schemas: { Text: text.schema } },
    paths: {
      '/.well-known/svc': { get: { responses: { 200: answer({}, []), 304: unchanged, ...REFUSALS } } },
      [`${prefix}/runs`]: { post: { responses: { 201: answer({ runId: text.schema }, ['runId']), ...REFUSALS } } },
      [`${prefix}/runs/{runId}`]: {
        get: { responses: { 200: answer({ runId: text.schema }, ['runId', 'status']), ...REFUSALS } },
      },
      [`${prefix}/runs/{runId}/events`]: { get: { responses: { 200: stream, ...REFUSALS } } },
      [`${prefix}/runs/{runId}/events/poll`]: { get: { responses: { 200: answer({}, ['events']), ...REFUSALS } } },
    },
  });

const documents = documentsOf(['1.1', '2.0'], { 1: describedIn('/v1'), 2: describedIn('') });
const SECRET = 'the secret of the subscription';
const WEBHOOK = 'acme/wh_0123456789abcdef';
const context = { documents, secretOf: (id: string) => (id === WEBHOOK ? SECRET : undefined) };
const operationOf = operations(documents.paths);
const AT = Date.parse('2026-01-01T00:00:00Z');

const RUN = 'acme/run_0123456789abcdef';
const JSON_2 = { 'content-type': ['application/json'], 'svc-version': ['2.0'] };
const event = (sequence: number, type: string) => ({
  eventId: `evt_0123456789abcdef${sequence}`,
  runId: RUN,
  type,
  sequence,
  timestamp: '2026-01-01T00:00:00.000Z',
  payload: type === 'run.started' ? { workflowId: 'w' } : { outputs: {} },
  schemaVersion: 1,
  engineVersion: 1,
});
const EVENTS = [event(0, 'run.started'), event(3, 'run.completed')];

function asked(method: string, target: string, headers: Record<string, string> = {}) {
  return { method, target, headers, body: '' };
}

function exchange(method: string, target: string, said: Said, headers: Record<string, string> = {}): Exchange {
  const request = asked(method, target, headers);
  const kind = kindOfAnswer(operationOf, request, said);
  if (kind === undefined) throw new Error(`${method} ${target} has no kind.`);
  return { asked: request, said, kind, at: AT };
}

function refusal(status: number, error: string, headers: Said['headers'] = {}, more: object = {}): Said {
  const body = JSON.stringify({ error, message: 'Ask for something else.', ...more });
  return { status, headers: { ...JSON_2, ...headers }, body };
}

const frames = EVENTS.map((one) => `id: ${one.sequence}\nevent: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`).join(
  '',
);

function delivery(): Exchange {
  const body = JSON.stringify({ runId: RUN, workspaceId: 'prod', event: EVENTS[0] });
  const time = String(AT / 1000);
  const values = {
    'webhook-id': WEBHOOK,
    'event-type': 'run.started',
    timestamp: time,
    signature: `sha256=${createHmac('sha256', SECRET).update(`${time}.${body}`).digest('hex')}`,
    'signature-algorithm': 'v1',
  };
  const both = Object.entries(values).flatMap(([name, value]) => [
    [`svc-${name}`, [value]],
    [`x-svc-${name}`, [value]],
  ]);
  const headers = {
    ...Object.fromEntries(both),
    'content-type': ['application/json'],
    'user-agent': ['svc-webhook-dispatcher/2.0.0'],
  };
  const said = { status: undefined, headers, body };
  return { asked: asked('POST', '/inbox'), said, kind: kindOfDelivery(said), at: AT };
}

const discovery = { protocolVersions: ['1.1', '2.0'], preferredVersion: '1.1' };
const DISCOVERY_HEADERS = {
  ...JSON_2,
  etag: ['"tag"'],
  'cache-control': ['public, max-age=300'],
  vary: ['SVC-Version'],
};
const GOOD = {
  discovery: exchange('GET', '/.well-known/svc', {
    status: 200,
    headers: DISCOVERY_HEADERS,
    body: JSON.stringify(discovery),
  }),
  conditional: exchange(
    'GET',
    '/.well-known/svc',
    { status: 200, headers: DISCOVERY_HEADERS, body: JSON.stringify(discovery) },
    { 'if-none-match': '"other"' },
  ),
  notModified: exchange(
    'GET',
    '/.well-known/svc',
    { status: 304, headers: DISCOVERY_HEADERS, body: '' },
    { 'if-none-match': '"tag"' },
  ),
  run: exchange('GET', '/runs/acme~2Frun_0123456789abcdef', {
    status: 200,
    headers: JSON_2,
    body: JSON.stringify({ runId: RUN, status: 'completed', workflowId: 'w', more: 1 }),
  }),
  created: exchange('POST', '/runs', {
    status: 201,
    headers: { ...JSON_2, 'svc-idempotent-replay': ['true'] },
    body: JSON.stringify({ runId: RUN, eventsUrl: '/events' }),
  }),
  absent: exchange('GET', '/runs/none', refusal(404, 'not_found')),
  unknown: exchange('GET', '/runs/none', refusal(401, 'unauthenticated', { 'www-authenticate': ['Bearer'] })),
  lacking: exchange(
    'GET',
    '/runs/none',
    refusal(
      403,
      'forbidden',
      { 'www-authenticate': ['Bearer error="insufficient_scope"'] },
      { details: { scopeRequired: 'runs:read' } },
    ),
  ),
  method: exchange('PATCH', '/runs/none', refusal(405, 'validation_error', { allow: ['GET, HEAD'] })),
  version: exchange(
    'GET',
    '/runs/none',
    refusal(406, 'protocol_version_unsupported', {}, { details: { protocolVersions: ['1.1', '2.0'] } }),
  ),
  limited: exchange('GET', '/runs/none', refusal(429, 'rate_limited', { 'retry-after': ['3'] })),
  poll: exchange('GET', '/runs/acme%2Frun_0123456789abcdef/events/poll?afterSequence=-1', {
    status: 200,
    headers: JSON_2,
    body: JSON.stringify({ runId: RUN, events: EVENTS, lastSequence: 3, status: 'completed', isTerminal: true }),
  }),
  stream: exchange('GET', '/runs/acme%2Frun_0123456789abcdef/events', {
    status: 200,
    headers: { ...JSON_2, 'content-type': ['text/event-stream'], 'cache-control': ['no-store'] },
    body: frames,
  }),
  delivery: delivery(),
} as const;

const change = (place: string, value: unknown): Mutation => ({
  act: 'change member',
  place: place.split('.'),
  to: { how: 'literal', value },
});

/** Mutations that break the sentence. */
const BREAKING: readonly (readonly [requirement: string, of: keyof typeof GOOD, mutation: Mutation])[] = [
  ['versioning.response.names-producer', 'run', { act: 'change header', name: 'svc-version', to: '1.1' }],
  ['operations.openapi.describes-every-answer', 'run', { act: 'change status', to: 202 }],
  [
    'operations.openapi.describes-every-answer',
    'run',
    { act: 'change header', name: 'content-type', to: 'text/plain' },
  ],
  ['operations.openapi.describes-every-answer', 'run', { act: 'drop member', place: ['status'] }],
  ['operations.openapi.describes-every-answer', 'run', { act: 'cut body' }],
  ['errors.envelope.fields', 'absent', { act: 'add member', place: [], name: 'hint' }],
  ['errors.envelope.fields', 'absent', change('error', 'not_there')],
  ['errors.envelope.scope-required-403-only', 'lacking', { act: 'change status', to: 404 }],
  ['auth.challenge.every-401', 'unknown', { act: 'drop header', name: 'www-authenticate' }],
  ['auth.challenge.insufficient-scope', 'lacking', { act: 'change header', name: 'www-authenticate', to: 'Bearer' }],
  ['versioning.paths.method-of-other-major', 'method', { act: 'change header', name: 'allow', to: 'PATCH' }],
  ['versioning.request.unlisted-major-406', 'version', { act: 'drop item', place: ['details', 'protocolVersions'] }],
  ['errors.code.rate-limited', 'limited', { act: 'change header', name: 'retry-after', to: 'soon' }],
  ['discovery.document.not-modified', 'notModified', { act: 'change header', name: 'etag', to: '"other"' }],
  ['discovery.document.not-modified', 'conditional', { act: 'answer 304' }],
  ['discovery.document.strong-etag', 'discovery', { act: 'change header', name: 'etag', to: 'W/"tag"' }],
  ['discovery.document.cache-control', 'discovery', { act: 'drop header', name: 'cache-control' }],
  ['discovery.document.vary', 'discovery', { act: 'change header', name: 'vary', to: 'Accept' }],
  ['discovery.document.advertise-only-served', 'discovery', { act: 'add member', place: [], name: 'capabilities' }],
  ['versioning.advertisement.lists-all', 'discovery', { act: 'drop item', place: ['protocolVersions'] }],
  ['events.stream.headers', 'stream', { act: 'drop header', name: 'cache-control' }],
  ['events.stream.frames', 'stream', { act: 'swap frames', at: 0 }],
  ['events.stream.frames', 'stream', { act: 'repeat frame', at: 1 }],
  ['events.stream.frames', 'stream', { act: 'drop frame', at: 0 }],
  [
    'events.stream.frames',
    'stream',
    { act: 'change field of frames', name: 'data', to: { how: 'literal', value: '' } },
  ],
  ['events.stream.ends-with-run', 'stream', { act: 'end stream', at: 1 }],
  ['events.schema.published', 'stream', { act: 'change frames', by: { act: 'drop member', place: ['engineVersion'] } }],
  ['events.poll.cursor', 'poll', { act: 'reverse items', place: ['events'] }],
  ['events.poll.body', 'poll', change('isTerminal', false)],
  ['versioning.ids.projection', 'run', { act: 'change member', place: ['runId'], to: { how: 'without tenant' } }],
  ['runs.life.transitions', 'run', change('status', 'failed')],
  ['operations.runs.read', 'run', change('workflowId', 'another')],
  ['operations.idempotency.kept', 'created', change('eventsUrl', '/elsewhere')],
  ['operations.idempotency.replay-marker', 'created', { act: 'drop header', name: 'svc-idempotent-replay' }],
  ['webhooks.headers.overlap-sends-both', 'delivery', { act: 'drop header', name: 'x-svc-timestamp' }],
  [
    'webhooks.headers.families-identical',
    'delivery',
    { act: 'change header', name: 'x-svc-event-type', to: 'run.failed' },
  ],
  ['webhooks.headers.values', 'delivery', { act: 'change header', name: 'svc-signature-algorithm', to: 'v2' }],
  ['webhooks.headers.timestamp', 'delivery', { act: 'sign at another time', bySeconds: -301 }],
  ['webhooks.headers.signature', 'delivery', change('event.sequence', 1)],
  ['webhooks.delivery.request-headers', 'delivery', { act: 'change header', name: 'user-agent', to: 'node' }],
  [
    'events.schema.published',
    'delivery',
    { act: 'sign again', after: { act: 'drop member', place: ['event', 'eventId'] } },
  ],
  [
    'webhooks.body.event-verbatim',
    'delivery',
    { act: 'sign again', after: { act: 'change member', place: ['runId'], to: { how: 'append', text: '0' } } },
  ],
];

describe('the judge', () => {
  test.each(Object.entries(GOOD))('finds nothing in a right message: %s', (_name, good) => {
    expect(brokenAsRecorded(good, context)).toEqual([]);
  });

  test.each(BREAKING)('finds that %s is broken in %s', (requirement, of, mutation) => {
    const verdict = judge(mutation, [GOOD[of]], context);
    expect(verdict).toMatchObject({ outcome: 'breaks', requirements: expect.arrayContaining([requirement]) });
  });

  test('has no sentence that these mutations do not break', () => {
    const broken = new Set(BREAKING.map(([requirement]) => requirement));
    expect(SENTENCES.map(({ requirement }) => requirement).filter((requirement) => !broken.has(requirement))).toEqual(
      [],
    );
  });

  test('lets a host say more, and say it in other words', () => {
    const more: Mutation = { act: 'add member', place: [], name: 'conformanceUnknown' };
    expect(judge(more, [GOOD.run], context)).toEqual({ outcome: 'keeps' });
    expect(judge(change('message', 'There is no such run.'), [GOOD.absent], context)).toEqual({ outcome: 'keeps' });
  });

  test('does not judge a value of which no sentence speaks', () => {
    expect(judge(change('more', 2), [GOOD.run], context)).toEqual({ outcome: 'unjudged' });
  });

  test('tells a mutation that changes nothing', () => {
    expect(judge({ act: 'drop header', name: 'x-absent' }, [GOOD.run], context)).toEqual({ outcome: 'same' });
    expect(GOOD.delivery.kind.operation).toBe(DELIVERY);
  });
});
