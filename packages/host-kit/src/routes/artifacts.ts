import { HostError } from '../errors.ts';
import { prefersOverJson } from '../http/accept.ts';
import { type Answers, json } from '../http/description.ts';
import { type Route, route } from '../http/route.ts';
import { decodedSegment } from '../http/segment.ts';
import type { RunServices } from '../runs/change-run.ts';
import { a2aArtifact, a2aArtifactBody, artifact, artifactBody } from '../wire/artifact.ts';
import { addressedRun, type RunAddressOptions } from './run-address.ts';

/** Defines the route that reads the artifacts of runs. */
export function artifactRoutes(options: RunAddressOptions & Pick<RunServices, 'store'>): Route[] {
  return [
    route({
      operationId: 'readArtifact',
      scope: 'artifacts:read',
      describes: {
        tag: 'Artifacts',
        summary: 'Read an artifact of a run',
        description: 'The content as it was stored, with its media type. Its id is in the event `artifact.created`.',
        answers: ANSWERS,
        errors: ['not_found', 'run_forbidden', 'id_tenant_mismatch'],
      },
      async serve(call) {
        const { major, params, headers } = call;
        const run = await addressedRun(options, call);
        const found = await options.store.artifacts.read(run, decodedSegment(params.artifactId) ?? '');
        if (found === undefined) {
          throw new HostError('not_found', 'The run has no such artifact.', { details: undefined });
        }
        if (major === 2 && prefersOverJson(headers.get('accept'), A2A_JSON)) {
          return { status: 200, headers: { ...HEADERS[2], 'content-type': A2A_JSON }, body: a2aArtifactBody(found) };
        }
        return { status: 200, headers: HEADERS[major], body: artifactBody(major, run, found) };
      },
    }),
  ];
}

const A2A_JSON = 'application/a2a+json';
const PRIVATE = { 'cache-control': 'private, no-cache' };

/** In major 2 the media type depends on the `Accept` header. */
const HEADERS = { 1: PRIVATE, 2: { ...PRIVATE, vary: 'Accept' } } as const;

const plain = json('The artifact.', artifact, { headers: ['Cache-Control'] });
const both = json('The artifact, as this protocol or as A2A represents it.', artifact, {
  headers: ['Cache-Control', 'Vary'],
});
const ANSWERS: Readonly<Record<1 | 2, Answers>> = {
  1: { 200: plain },
  2: { 200: { ...both, content: { ...both.content, [A2A_JSON]: { 1: a2aArtifact, 2: a2aArtifact } } } },
};
