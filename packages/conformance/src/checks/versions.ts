import { type Api, DISCOVERY_PATH } from '../api.ts';
import { area, type RunnableCheck } from '../check.ts';
import { anObject, body, header, holds, refused, same, shown, status } from '../expect.ts';
import { NOOP, workflowId } from '../fixtures.ts';
import type { Answer } from '../http/answer.ts';
import { Inapplicable } from '../mismatch.ts';
import { fixture, overlap, retired, scopes, tenant } from '../needs.ts';
import { bareId, projected, segment, unknownId } from '../shapes/id.ts';
import { snapshot } from '../shapes/run.ts';
import { endedRun, startRun } from '../steps/runs.ts';
import type { World } from '../world.ts';
import { answeredWhenServed, type Probe } from './operations.ts';

const PATHS = 'Versioning: Paths';
const REQUEST = 'Versioning: Request header SVC-Version';
const RESPONSE = 'Versioning: Response header';
const OVERLAP = 'Versioning: Overlap behaviour';

/** Selection of the major, its refusals, and the ids of runs across majors. */
export const versions: readonly RunnableCheck[] = area('versions', {}, [
  {
    id: 'listed-major-served',
    name: 'A request whose `SVC-Version` names a listed major is answered by that major.',
    rule: [REQUEST, 'versioning.request.listed-major-served'],
    async run({ as, major }) {
      for (const target of [DISCOVERY_PATH, '/runs/none']) {
        stampedBy(major, await as('nobody').exactly({ target, headers: { 'SVC-Version': String(major) } }));
      }
    },
  },
  {
    id: 'minor-selects-nothing',
    name: 'The minor part of `SVC-Version` is ignored: `2`, `2.0` and `2.999` get the same representation.',
    rule: [REQUEST, 'versioning.request.major-or-full'],
    async run({ as, major }) {
      const ask = (version: string) =>
        as('nobody').exactly({ target: DISCOVERY_PATH, headers: { 'SVC-Version': version } });
      const plain = status(await ask(String(major)), 200);
      for (const version of [`${major}.0`, `${major}.999`]) {
        const answer = status(await ask(version), 200);
        stampedBy(major, answer);
        same(answer.header('ETag'), plain.header('ETag'), 'the ETag', answer);
      }
    },
  },
  {
    id: 'unlisted-major-406',
    name: 'An `SVC-Version` with a major that is not listed is answered 406 with the list of versions.',
    rule: [REQUEST, 'versioning.request.unlisted-major-406'],
    async run(world) {
      for (const target of [DISCOVERY_PATH, '/runs/none']) await unsupported(world, target, '999');
    },
  },
  {
    id: 'malformed-406',
    name: 'A malformed `SVC-Version` on an unversioned path is answered 406 with the list of versions.',
    rule: [REQUEST, 'versioning.request.malformed-406'],
    async run(world) {
      const values = ['x', '01', '2.', '.2', '2.0.0', '-2', '2.00', '+2', `${'9'.repeat(400)}`];
      for (const value of values) await unsupported(world, DISCOVERY_PATH, value);
    },
  },
  {
    id: 'repeated-406',
    name: 'A repeated or comma-joined `SVC-Version` is answered 406, like a malformed one.',
    rule: [REQUEST, 'versioning.request.repeated-malformed'],
    async run(world) {
      const { major } = world;
      await unsupported(world, DISCOVERY_PATH, `${major}, ${major}`);
      await unsupported(world, DISCOVERY_PATH, [String(major), String(major)]);
    },
  },
  {
    id: 'absent-is-preferred',
    name: 'An unversioned path without `SVC-Version` is served by the major of `preferredVersion`.',
    rule: [REQUEST, 'versioning.request.absent-preferred'],
    async run({ as, target }) {
      const preferred = target.preferredVersion?.startsWith('2.') === true ? 2 : 1;
      for (const place of [DISCOVERY_PATH, '/runs/none']) {
        stampedBy(preferred, await as('nobody').exactly({ target: place }));
      }
    },
  },
  {
    id: 'v1-path-mismatch-400',
    name: 'A `/v1` path with another `SVC-Version` than 1 is answered 400 `protocol_version_mismatch`.',
    rule: [REQUEST, 'versioning.request.v1-path-mismatch'],
    majors: [1],
    async run({ as }) {
      for (const version of ['1.0', '1.1', '2', '2.0', '3', 'x', '', '1, 1', '01']) {
        const answer = await as('nobody').exactly({ target: '/v1/runs/none', headers: { 'SVC-Version': version } });
        refused(answer, 400, 'protocol_version_mismatch');
        stampedBy(1, answer);
      }
    },
  },
  {
    id: 'v1-path-accepts-1',
    name: 'A `/v1` path accepts an `SVC-Version` of `1`, and none.',
    rule: [REQUEST, 'versioning.request.v1-path-accepts-1'],
    majors: [1],
    async run({ as }) {
      for (const headers of [{ 'SVC-Version': '1' }, {}]) {
        const answer = await as('nobody').exactly({ target: '/v1/runs/none', headers });
        refused(answer, 401);
        stampedBy(1, answer);
      }
    },
  },
  {
    id: 'before-authentication',
    name: 'A bad `SVC-Version` is rejected before the credential is checked.',
    rule: [REQUEST, 'versioning.request.before-authentication'],
    async run(world) {
      await unsupported(world, '/runs/none', '999', { Authorization: 'Bearer not-a-key' });
      if (world.major === 2) return;
      const headers = { 'SVC-Version': '2', Authorization: 'Bearer not-a-key' };
      refused(await world.as('nobody').exactly({ target: '/v1/runs/none', headers }), 400, 'protocol_version_mismatch');
    },
  },
  {
    id: 'stamped',
    name: 'Every response to a caller without a credential has the `SVC-Version` of the major that produced it.',
    rule: [RESPONSE, 'versioning.response.stamped'],
    async run({ as, major, target }) {
      const nobody = as('nobody');
      const answers = [
        await nobody.get(DISCOVERY_PATH),
        await nobody.get('/runs/none'),
        await nobody.post('/runs', '{'),
        await nobody.delete('/webhooks/none'),
      ];
      for (const answer of answers) {
        const version = stampedBy(major, answer);
        holds(target.protocolVersions.includes(version), 'a version that is in protocolVersions', version, answer);
      }
    },
  },
  {
    id: 'stamped-behind-authentication',
    name: 'Every response to an authenticated caller has the `SVC-Version` of the major that produced it.',
    rule: [RESPONSE, 'versioning.response.names-producer'],
    needs: [scopes('runs:create', 'runs:read')],
    async run({ api, major, target }) {
      const answers = [
        await api.get(`/runs/${segment(unknownId(major, target.tenant))}`),
        await api.post('/runs', {}),
        await api.post('/runs', { workflowId: 'conformance-there-is-no-such-workflow' }),
      ];
      for (const answer of answers) {
        holds(answer.status >= 400 && answer.status < 500, 'a 4xx status', String(answer.status), answer);
        stampedBy(major, answer);
      }
    },
  },
  {
    id: 'no-v2-space',
    name: 'No path under `/v2` is a protocol operation.',
    rule: [PATHS, 'versioning.paths.no-v2-space'],
    majors: [2],
    async run({ as }) {
      for (const target of ['/v2/runs/none', '/v2/.well-known/svc']) {
        const answer = status(await as('nobody').exactly({ target }), 404, 401);
        holds(
          answer.header('SVC-Version') === undefined,
          'no SVC-Version',
          shown(answer.header('SVC-Version')),
          answer,
        );
      }
    },
  },
  {
    id: 'paired',
    name: 'An operation that is served under one advertised major is served under the other.',
    rule: [PATHS, 'versioning.paths.pairing'],
    needs: [overlap, scopes('runs:create', 'runs:read'), fixture(NOOP)],
    majors: [2],
    async run(world) {
      const { runId } = await endedRun(world, NOOP, {}, world.under(1));
      const unpaired: string[] = [];
      for (const probe of answeredWhenServed(runId, workflowId(world.target, NOOP))) {
        const [under1, under2] = await Promise.all([isServed(world.under(1), probe), isServed(world.under(2), probe)]);
        if (under1 !== under2) unpaired.push(`${probe.name} under major ${under1 ? 1 : 2} alone`);
      }
      holds(unpaired.length === 0, 'each operation to be served under both majors', unpaired.join(', '));
    },
  },
  {
    id: 'client-floor-426',
    name: 'A client version below `minClientVersion` is answered 426 with that minimum, also by discovery.',
    rule: [REQUEST, 'versioning.client.below-minimum-426'],
    needs: [
      ({ documents }, major) =>
        typeof documents[major]?.minClientVersion === 'string' ? undefined : 'the host advertises no minClientVersion',
    ],
    async run({ as, target, major }) {
      const floor = target.documents[major]?.minClientVersion;
      if (floor === '0.0') throw new Inapplicable('minClientVersion is 0.0, and no version is lower');
      const answer = await as('nobody').get(DISCOVERY_PATH, { headers: { 'SVC-Client-Version': '0.0' } });
      const { details } = refused(answer, 426, 'client_version_unsupported');
      same(details?.minClientVersion, floor, 'details.minClientVersion', answer);
    },
  },
  {
    id: 'client-version-malformed',
    name: 'A malformed `SVC-Client-Version` is treated as absent.',
    rule: [REQUEST, 'versioning.client.header-form'],
    async run({ as }) {
      for (const value of ['x', '0', '0.0.0.0', '-1.0']) {
        status(await as('nobody').get(DISCOVERY_PATH, { headers: { 'SVC-Client-Version': value } }), 200);
      }
    },
  },
  {
    id: 'v1-retired-at-once',
    name: 'After major 1 is retired, no path under `/v1` is a protocol operation.',
    rule: ['Versioning: Advertisement', 'versioning.advertisement.retirement-atomic'],
    majors: [2],
    needs: [retired],
    async run({ as }) {
      for (const target of ['/v1/runs', '/v1/runs/none', '/v1/webhooks', '/v1/audit/verify', '/v1/openapi.json']) {
        const answer = status(await as('nobody').exactly({ target }), 404, 410);
        holds(
          answer.header('SVC-Version') === undefined,
          'no SVC-Version',
          shown(answer.header('SVC-Version')),
          answer,
        );
      }
    },
  },
  {
    id: 'bound-projection',
    name: 'A run that was created under major 1 has the id `<tenantId>/<v1 id>` under major 2.',
    rule: [OVERLAP, 'versioning.ids.projection'],
    majors: [2],
    needs: [overlap, scopes('runs:create', 'runs:read'), fixture(NOOP), tenant],
    async run(world) {
      const { api, target } = world;
      const { runId } = await startRun(world, NOOP, {}, world.under(1));
      const bound = `${target.tenant}/${runId}`;
      const answer = await api.get(`/runs/${segment(bound)}`);
      same(body(answer, 200, snapshot[2]).runId, bound, 'runId', answer);
    },
  },
  {
    id: 'no-bare-id',
    name: 'Responses of major 2 contain the tenant-bound id of a run, even when the request has the bare id.',
    rule: [OVERLAP, 'versioning.ids.no-bare-id-in-v2'],
    majors: [2],
    needs: [overlap, scopes('runs:create', 'runs:read', 'runs:cancel'), fixture(NOOP), tenant],
    async run(world) {
      const { runId } = await startRun(world, NOOP, {}, world.under(1));
      const read = await world.api.get(`/runs/${runId}`);
      body(read, 200, snapshot[2]);
      const cancelled = await world.api.post('/runs:bulk-cancel', { runIds: [runId] });
      body(cancelled, 200, anObject);
      for (const answer of [read, cancelled]) {
        const bare = answer.text.replaceAll(`${world.target.tenant}/${runId}`, '');
        holds(!bare.includes(runId), 'the tenant-bound id wherever the body contains the id', answer.text, answer);
      }
    },
  },
  {
    id: 'v1-reads-v2-run',
    name: 'A run that was created under major 2 has the part of its id after the tenant as its id under major 1.',
    rule: [OVERLAP, 'versioning.ids.projection'],
    majors: [1],
    needs: [overlap, scopes('runs:create', 'runs:read'), fixture(NOOP)],
    async run(world) {
      const { runId } = await startRun(world, NOOP, {}, world.under(2));
      const answer = await world.api.get(`/runs/${segment(bareId(runId))}`);
      same(body(answer, 200, snapshot[1]).runId, bareId(runId), 'runId', answer);
    },
  },
  {
    id: 'projected-path',
    name: 'A tenant-bound id in a path is accepted percent-encoded and in the form with `~2F`.',
    rule: [OVERLAP, 'versioning.ids.projection'],
    majors: [2],
    needs: [scopes('runs:create', 'runs:read'), fixture(NOOP)],
    async run(world) {
      const { runId } = await startRun(world, NOOP);
      for (const place of [segment(runId), projected(runId)]) {
        const answer = await world.api.get(`/runs/${place}`);
        same(body(answer, 200, snapshot[2]).runId, runId, 'runId', answer);
      }
    },
  },
  {
    id: 'malformed-projection-400',
    name: 'A `~` in an id that is not followed by two hexadecimal digits is answered 400.',
    rule: [OVERLAP, 'versioning.ids.projection'],
    majors: [2],
    needs: [scopes('runs:read'), tenant],
    async run({ api, target }) {
      refused(await api.get(`/runs/${target.tenant}~2Gconformance-no-such-run`), 400, 'validation_error');
    },
  },
]);

/** Requires `SVC-Version` of a major, and returns its value. */
function stampedBy(major: number, answer: Answer): string {
  return header(answer, 'SVC-Version', new RegExp(`^${major}\\.(0|[1-9][0-9]*)$`));
}

async function unsupported(
  { as, target }: World,
  place: string,
  version: string | readonly string[],
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  const answer = await as('nobody').exactly({ target: place, headers: { 'SVC-Version': version, ...headers } });
  const { details } = refused(answer, 406, 'protocol_version_unsupported');
  const listed = Array.isArray(details?.protocolVersions) ? details.protocolVersions : [];
  same([...listed].sort(), [...target.protocolVersions].sort(), 'details.protocolVersions', answer);
  header(answer, 'SVC-Version', /^[12]\./);
}

async function isServed(api: Api, { method, path, body: asked }: Probe): Promise<boolean> {
  const { status: answered } = await api.call(method, path, asked === undefined ? {} : { body: asked });
  return ![404, 405, 501].includes(answered);
}
