import { DISCOVERY_PATH } from '../api.ts';
import { area, type RunnableCheck } from '../check.ts';
import { anObject, body, header, holds, refused, status } from '../expect.ts';
import { NOOP } from '../fixtures.ts';
import { described } from '../http/answer.ts';
import { fixture, key, scopes } from '../needs.ts';
import { segment } from '../shapes/id.ts';
import { startRun } from '../steps/runs.ts';
import { isRecord, type Target } from '../target.ts';
import { scoped } from './operations.ts';

const KEYS = 'Authentication: 1. API keys';
const ERRORS = 'Errors';

/** Credentials of callers. */
export const authentication: readonly RunnableCheck[] = area('authentication', {}, [
  {
    id: 'missing-401',
    name: 'A request without an `Authorization` header is answered 401 `unauthenticated`.',
    rule: [KEYS, 'auth.api-key.missing-or-malformed-401'],
    async run({ as, major, target }) {
      for (const { method, path, body: asked } of scoped(major, target)) {
        refused(await as('nobody').call(method, path, { body: asked }), 401, 'unauthenticated');
      }
    },
  },
  {
    id: 'malformed-401',
    name: 'A malformed `Authorization` header is answered 401 `unauthenticated`.',
    rule: [KEYS, 'auth.api-key.missing-or-malformed-401'],
    async run({ as }) {
      for (const Authorization of [
        '',
        'Bearer',
        'Bearer ',
        'Basic dXNlcjpwYXNz',
        'conformance',
        'Bearer two parts',
        'Bearer "x"',
      ]) {
        refused(await as('nobody').get('/runs/none', { headers: { Authorization } }), 401, 'unauthenticated');
      }
    },
  },
  {
    id: 'unknown-key-401',
    name: 'An unknown key is answered 401 `unauthenticated`, and the response does not contain the key.',
    rule: [KEYS, 'auth.api-key.unknown-401'],
    async run({ as }) {
      const unknown = `conformance-unknown-key-${crypto.randomUUID()}`;
      const headers = { Authorization: `Bearer ${unknown}` };
      const answer = await as('nobody').get('/runs/none', { headers });
      refused(answer, 401, 'unauthenticated');
      holds(!answer.text.includes(unknown), 'a body without the key', described(answer), answer);
    },
  },
  {
    id: 'doubled-header-401',
    name: 'Two `Authorization` headers are answered 401, even when one of them has a valid key.',
    rule: [KEYS, 'auth.api-key.doubled-header-401'],
    needs: [key('main')],
    async run({ as, target }) {
      const right = `Bearer ${target.keys.main}`;
      for (const Authorization of [
        [right, 'Bearer conformance-unknown-key-of-enough-characters'],
        ['Bearer conformance-unknown-key-of-enough-characters', right],
      ]) {
        refused(await as('nobody').get('/runs/none', { headers: { Authorization } }), 401, 'unauthenticated');
      }
    },
  },
  {
    id: 'expired-401',
    name: 'An expired key is answered 401 `key_expired`.',
    rule: [ERRORS, 'auth.api-key.expired-401'],
    needs: [key('expired')],
    async run({ as }) {
      refused(await as('expired').get('/runs/none'), 401, 'key_expired');
    },
  },
  {
    id: 'revoked-401',
    name: 'A revoked key is answered 401 `key_revoked`.',
    rule: [ERRORS, 'auth.api-key.revoked-401'],
    needs: [key('revoked')],
    async run({ as }) {
      refused(await as('revoked').get('/runs/none'), 401, 'key_revoked');
    },
  },
  {
    id: 'challenge',
    name: 'Every 401 response has `WWW-Authenticate: Bearer`.',
    rule: ['Authentication', 'auth.challenge.every-401'],
    async run({ as }) {
      const nobody = as('nobody');
      const unknown = { Authorization: 'Bearer conformance-unknown-key-of-enough-characters' };
      for (const answer of [
        await nobody.get('/runs/none'),
        await nobody.get('/runs/none', { headers: unknown }),
        await nobody.post('/runs', {}),
      ]) {
        status(answer, 401);
        header(answer, 'WWW-Authenticate', /(?:^|,\s*)Bearer(?:\s|,|$)/);
      }
    },
  },
  {
    id: 'learns-nothing',
    name: 'Without a valid credential, the response is the same for a run that exists and for one that does not.',
    rule: ['Authentication', 'auth.request.unauthenticated-learns-nothing'],
    needs: [scopes('runs:create'), fixture(NOOP)],
    async run(world) {
      const nobody = world.as('nobody');
      const { runId } = await startRun(world, NOOP);
      for (const behind of ['', '/events/poll', '/artifacts/none']) {
        const exists = refused(await nobody.get(`/runs/${segment(runId)}${behind}`), 401);
        const absent = await nobody.get(`/runs/${segment(withOtherEnd(runId))}${behind}`);
        holds(
          refused(absent, 401).error === exists.error,
          `the same error code as for a run that exists, ${exists.error}`,
          described(absent),
          absent,
        );
      }
      refused(await nobody.post('/runs', '{ not even JSON'), 401);
    },
  },
  {
    id: 'credential-in-url',
    name: 'A key in the query of a URL is not accepted as a credential.',
    rule: ['Authentication', 'auth.request.no-credential-in-url'],
    needs: [key('spare')],
    async run({ as, target }) {
      const { spare = '' } = target.keys;
      for (const name of ['access_token', 'api_key', 'key', 'token']) {
        refused(await as('nobody').get('/runs/none', { query: { [name]: spare } }), 401);
      }
    },
  },
  {
    id: 'key-accepted',
    name: 'A valid key in `Authorization: Bearer` authenticates a machine caller.',
    rule: ['Authentication', 'auth.models.api-keys-for-machines'],
    needs: [key('main')],
    async run({ api, target, major }) {
      for (const { name, method, path, body: asked } of scoped(major, target)) {
        const answer = await api.call(method, path, { body: asked });
        // The host knows the caller, and does not serve the operation. Every host serves the reading of a run, so a host that
        // answers 501 to everything has accepted no key.
        if (answer.status === 501 && name !== 'read run') {
          refused(answer, 501, 'capability_not_provided');
          continue;
        }
        holds(
          answer.status !== 401 && answer.status < 500,
          'a status other than 401 and 5xx',
          described(answer),
          answer,
        );
      }
    },
  },
  {
    id: 'resource-metadata',
    name: 'A host that accepts tokens serves protected-resource metadata publicly, and its 401 links to it.',
    rule: ['Authentication', 'auth.challenge.metadata-served'],
    needs: [(target) => (takesTokens(target) ? undefined : 'the host takes no tokens of an issuer')],
    async run({ as }) {
      const challenge = header(await as('nobody').get('/runs/none'), 'WWW-Authenticate', /resource_metadata="[^"]+"/);
      holds(/resource_metadata="https?:\/\//.test(challenge), 'an absolute URL in resource_metadata', challenge);
      const answer = await as('nobody').exactly({ target: '/.well-known/oauth-protected-resource' });
      const { resource, authorization_servers: servers } = body(answer, 200, anObject);
      holds(typeof resource === 'string', 'a member resource', described(answer), answer);
      holds(
        Array.isArray(servers) && servers.length > 0,
        'a non-empty list authorization_servers',
        described(answer),
        answer,
      );
    },
  },
  {
    id: 'discovery-ignores-credential',
    name: 'Discovery is served also to a request with an invalid credential.',
    rule: ['What the service does', 'operations.service.discovery-unauthenticated'],
    async run({ as }) {
      const headers = { Authorization: 'Bearer conformance-unknown-key-of-enough-characters' };
      status(await as('nobody').get(DISCOVERY_PATH, { headers }), 200);
    },
  },
]);

/** Returns an id that differs in its last character. */
function withOtherEnd(id: string): string {
  return `${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}`;
}

function takesTokens({ documents }: Target): boolean {
  const [one, two] = [documents[1]?.auth, documents[2]?.auth];
  const isOn = (value: unknown) => isRecord(value) && value.supported !== false;
  if (isRecord(one) && (isOn(one.oidc) || isOn(one.oauth2))) return true;
  const lanes = isRecord(two) && Array.isArray(two.lanes) ? two.lanes : [];
  return lanes.some((lane) => isRecord(lane) && (lane.lane === 'oidc' || lane.lane === 'oauth2'));
}
