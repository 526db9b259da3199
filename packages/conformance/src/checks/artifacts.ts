import { area, type RunnableCheck } from '../check.ts';
import { anObject, body, fits, holds, refused } from '../expect.ts';
import { NOOP } from '../fixtures.ts';
import { artifacts as anArtifact, fixture, key, scopes } from '../needs.ts';
import { segment } from '../shapes/id.ts';
import { endedRun, eventOf, logOf, startRun } from '../steps/runs.ts';
import type { World } from '../world.ts';

const RULE = 'Authentication: scope artifacts:read';

/** Artifacts of runs. */
export const artifacts: readonly RunnableCheck[] = area(
  'artifacts',
  { needs: [scopes('runs:create', 'runs:read', 'artifacts:read')] },
  [
    {
      id: 'created',
      name: 'A run that makes an artifact records `artifact.created` with its id and its type.',
      rule: ['Events', 'events.types.artifact-created'],
      needs: [anArtifact],
      async run(world) {
        const { artifactId } = await made(world);
        holds(artifactId.length > 0, 'an artifactId', 'none');
      },
    },
    {
      id: 'read',
      name: 'An artifact is served as a JSON object.',
      rule: [RULE, 'operations.artifacts.read'],
      needs: [anArtifact],
      async run(world) {
        const { runId, artifactId } = await made(world);
        body(await world.api.get(`/runs/${segment(runId)}/artifacts/${segment(artifactId)}`), 200, anObject);
      },
    },
    {
      id: 'unknown-404',
      name: 'An artifact that does not exist is answered 404.',
      rule: [RULE, 'operations.artifacts.read'],
      needs: [fixture(NOOP)],
      async run(world) {
        const { runId } = await startRun(world, NOOP);
        refused(await world.api.get(`/runs/${segment(runId)}/artifacts/conformance-none`), 404, 'not_found');
      },
    },
    {
      id: 'of-its-run',
      name: 'An artifact is served under its own run, and answered 404 under another run.',
      rule: [RULE, 'operations.artifacts.read'],
      needs: [anArtifact, fixture(NOOP)],
      async run(world) {
        const { artifactId } = await made(world);
        const { runId } = await startRun(world, NOOP);
        refused(await world.api.get(`/runs/${segment(runId)}/artifacts/${segment(artifactId)}`), 404, 'not_found');
      },
    },
    {
      id: 'workspace-apart',
      name: 'An artifact is answered 403 `run_forbidden` to a key of another workspace.',
      rule: ['Authorization rules', 'auth.tenancy.workspace-apart'],
      needs: [anArtifact, key('otherWorkspace')],
      async run(world) {
        const { runId, artifactId } = await made(world);
        const path = `/runs/${segment(runId)}/artifacts/${segment(artifactId)}`;
        refused(await world.as('otherWorkspace').get(path), 403, 'run_forbidden');
      },
    },
  ],
);

async function made(world: World): Promise<{ readonly runId: string; readonly artifactId: string }> {
  const { artifactWorkflow = '' } = world.target;
  const { runId } = await endedRun(world, artifactWorkflow, { inputs: { content: 'made for a check' } });
  const payload = fits(eventOf(await logOf(world, runId), 'artifact.created').payload, anObject);
  holds(typeof payload.artifactType === 'string', 'an artifactType in artifact.created', payload);
  return { runId, artifactId: String(payload.artifactId ?? '') };
}
