import { expect, test } from 'vitest';
import { asDescribed } from './as-described.ts';
import { covers } from './covers.ts';

const DESCRIPTION = {
  openapi: '3.1.1',
  paths: {
    '/runs/{runId}': {
      get: {
        operationId: 'readRun',
        responses: {
          200: {
            headers: { 'SVC-Version': { $ref: '#/components/headers/SVC-Version' } },
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Run' } } },
          },
          304: { headers: { 'SVC-Version': { $ref: '#/components/headers/SVC-Version' } } },
        },
      },
    },
    '/runs/{runId}/events': {
      get: {
        operationId: 'streamEvents',
        responses: {
          200: {
            headers: { 'SVC-Version': { $ref: '#/components/headers/SVC-Version' } },
            content: { 'text/event-stream': {} },
          },
        },
      },
    },
  },
  components: {
    headers: { 'SVC-Version': { required: true }, ETag: {} },
    schemas: { Run: { type: 'object', properties: { runId: { type: 'string' } }, required: ['runId'] } },
  },
};

/** Creates a host with the description above, whose other responses come from `answer`. */
function hostThat(answer: () => Response) {
  return asDescribed(async ({ url }) => {
    if (!url.endsWith('/openapi.json')) return answer();
    return Response.json(DESCRIPTION, { headers: { 'svc-version': '2.0' } });
  });
}

const reply = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  new Response(body === undefined ? null : JSON.stringify(body), {
    status,
    headers: { 'svc-version': '2.0', ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
  });

test.each<[string, string, () => Response]>([
  ['a described response', '/runs/r', () => reply(200, { runId: 'r' })],
  ['a response without a body', '/runs/r', () => reply(304, undefined)],
  ['an error on a path that is not described', '/nothing', () => reply(404, { error: 'not_found', message: 'No.' })],
  ['a response outside the protocol', '/host/example/x', () => new Response('anything')],
])('accepts %s', async (_title, path, answer) => {
  const given = answer();
  const response = await hostThat(() => given.clone())(`http://host.test${path}`);
  expect([response.status, await response.text()]).toEqual([given.status, await given.text()]);
});

test.each<[string, string, () => Response, RegExp]>([
  ['a status', '/runs/r', () => reply(404, { error: 'not_found' }), /readRun answered 404/],
  ['a member', '/runs/r', () => reply(200, { runId: 'r', extra: 1 }), /readRun 200: .*"extra"/],
  ['a missing member', '/runs/r', () => reply(200, {}), /readRun 200: .*"runId"/],
  ['a type', '/runs/r', () => reply(200, { runId: 1 }), /readRun 200: \/runId must be string/],
  ['a header', '/runs/r', () => reply(200, { runId: 'r' }, { etag: '"1"' }), /its header etag is not described/],
  ['a media type', '/runs/r', () => reply(200, {}, { 'content-type': 'text/html' }), /media type is text\/html/],
  ['another media type', '/runs/r/events', () => reply(200, {}), /text\/event-stream is described/],
  ['an operation', '/other', () => reply(200, {}), /status 200 came from an operation that is not described/],
  ['a shape of error', '/other', () => reply(404, { message: 'no' }), /its body is not an error envelope/],
])(`${covers('operations.openapi.describes-every-answer')} rejects %s that is not described`, async (...row) => {
  const [, path, answer, problem] = row;
  await expect(hostThat(answer)(`http://host.test${path}`)).rejects.toThrow(problem);
});
