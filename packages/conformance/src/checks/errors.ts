import { area, type RunnableCheck } from '../check.ts';
import { holds, refused, status } from '../expect.ts';
import { NOOP, workflowId } from '../fixtures.ts';
import { described } from '../http/answer.ts';
import { Inapplicable } from '../mismatch.ts';
import { key, scopes, unadvertised } from '../needs.ts';
import { segment, unknownId } from '../shapes/id.ts';
import { isRecord } from '../target.ts';

const ENVELOPE = 'Error envelope';
const ERRORS = 'Errors';

/** Error responses. */
export const errors: readonly RunnableCheck[] = area('errors', { needs: [key('main')] }, [
  {
    id: 'envelope',
    name: 'Every error body is JSON with `error`, `message` and optional `details`; `error` is a short code.',
    rule: [ENVELOPE, 'errors.envelope.fields'],
    async run({ api, as, major, target }) {
      for (const answer of [
        await as('nobody').get('/runs/none'),
        await api.get(`/runs/${segment(unknownId(major, target.tenant))}`),
        await api.post('/runs', {}),
        await api.post('/runs', 'not JSON'),
        await api.exactly({ target: '/runs/none', headers: { 'SVC-Version': '999' } }),
      ]) {
        const { error } = refused(answer, answer.status);
        holds(/^[a-z0-9_.-]{1,64}$/.test(error), 'a code of at most 64 characters of a-z 0-9 _ . -', error, answer);
        holds(answer.status >= 400 && answer.status < 500, 'a 4xx status', described(answer), answer);
      }
    },
  },
  {
    id: 'not-json-400',
    name: 'A body that is not JSON is answered 400 `validation_error`.',
    rule: ['Endpoints', 'operations.bodies.json'],
    needs: [scopes('runs:create')],
    async run({ api }) {
      for (const sent of ['{', 'not JSON', '{"workflowId":}', '']) {
        refused(await api.post('/runs', sent), 400, 'validation_error');
      }
    },
  },
  {
    id: 'media-type-415',
    name: 'A body whose `Content-Type` is not JSON is answered 415 `unsupported_media_type`.',
    rule: ['Endpoints', 'operations.bodies.json'],
    majors: [2],
    needs: [scopes('runs:create')],
    async run({ api }) {
      for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
        const answer = await api.post('/runs', '{"workflowId":"x"}', { headers: { 'Content-Type': type } });
        refused(answer, 415, 'unsupported_media_type');
      }
    },
  },
  {
    id: 'too-large-413',
    name: 'A body over `limits.maxRequestBodyBytes` is answered 413, in major 2 with `payload_too_large`.',
    rule: ['Limits', 'limits.body.max-request'],
    needs: [
      scopes('runs:create'),
      ({ documents }, major) => {
        const limits = documents[major]?.limits;
        const isKnown = isRecord(limits) && typeof limits.maxRequestBodyBytes === 'number';
        return isKnown ? undefined : 'the host does not advertise limits.maxRequestBodyBytes';
      },
    ],
    async run({ api, target, major }) {
      const limits = target.documents[major]?.limits;
      const most = Number(isRecord(limits) ? limits.maxRequestBodyBytes : Number.NaN);
      if (!(most <= MOST_BYTES))
        throw new Inapplicable(`the limit of ${most} bytes is larger than the suite sends (${MOST_BYTES} bytes)`);
      const asked = { workflowId: 'conformance-there-is-no-such-workflow', metadata: { padding: 'x'.repeat(most) } };
      const answer = await api.post('/runs', asked);
      if (major === 2) refused(answer, 413, 'payload_too_large');
      else refused(answer, 413);
      const fitting = JSON.stringify({ ...asked, metadata: { padding: '' } });
      const just = { ...asked, metadata: { padding: 'x'.repeat(most - fitting.length) } };
      holds((await api.post('/runs', just)).status !== 413, 'a body of exactly that size to be accepted', 'status 413');
    },
  },
  {
    id: 'gate-off',
    name: 'An unadvertised operation is answered 404 `not_found`; in major 1, 501 `capability_not_provided`.',
    rule: [ERRORS, 'discovery.document.advertise-only-served'],
    needs: [scopes('runs:read'), unadvertised('triggerBridge')],
    async run({ api, major }) {
      const answer = await api.post('/trigger-subscriptions', {});
      if (major === 2) refused(answer, 404, 'not_found');
      else refused(answer, 501, 'capability_not_provided');
    },
  },
  {
    id: 'no-internals',
    name: 'Error responses contain no stack trace, file path, network error or database error.',
    rule: [ENVELOPE, 'errors.envelope.fields'],
    async run({ api, major, target }) {
      for (const answer of [
        await api.post('/runs', '{"workflowId":'),
        await api.post('/runs', { workflowId: "'; DROP TABLE runs; --" }),
        await api.get(`/runs/${segment(unknownId(major, target.tenant))}%00`),
        await api.get(`/runs/${'x'.repeat(3000)}`),
        await api.get('/runs/%ff%fe'),
        await api.get(`/runs/${segment("' OR 1=1 --")}`),
      ]) {
        holds(answer.status < 500, 'a status other than 5xx', described(answer), answer);
        const found = INTERNALS.find((pattern) => pattern.test(answer.text));
        holds(
          found === undefined,
          'no stack trace, file path, network error or database error',
          described(answer),
          answer,
        );
      }
    },
  },
  {
    id: 'unknown-member-named',
    name: 'A 400 for an unknown member of a body names that member.',
    rule: [ENVELOPE, 'errors.envelope.fields'],
    level: 'SHOULD',
    needs: [scopes('runs:create')],
    async run({ api, target }) {
      const asked = { workflowId: workflowId(target, NOOP), conformanceUnknownMember: true };
      const answer = status(await api.post('/runs', asked), 400);
      holds(
        answer.text.includes('conformanceUnknownMember'),
        'the name of the unknown member in the body',
        described(answer),
        answer,
      );
    },
  },
]);

const MOST_BYTES = 8 * 1024 * 1024;

const INTERNALS: readonly RegExp[] = [
  /\bat [\w.<>]+ \(?(?:file:|node:|\/)/,
  /node_modules|\/src\/|\/dist\/|\.[jt]s:\d+/,
  /SQLITE_|sqlite3?\b|\bpg_|ECONNREFUSED|ENOENT|syntax error at or near/i,
  /Traceback \(most recent call last\)|goroutine \d+|panicked at|java\.lang\./,
];
