import { z } from 'zod';
import { area, type RunnableCheck } from '../check.ts';
import { body, holds, refused, same } from '../expect.ts';
import { NOOP } from '../fixtures.ts';
import { capability, fixture, key, scopes } from '../needs.ts';
import type { Major } from '../rule.ts';
import { resourceId, segment, time, unknownId } from '../shapes/id.ts';
import { endedRun } from '../steps/runs.ts';
import { advertised } from '../target.ts';
import type { World } from '../world.ts';

const RULE = ['Endpoints: run annotations', 'operations.annotations.stored'] as const;

/** Annotations of runs. */
export const annotations: readonly RunnableCheck[] = area(
  'annotations',
  { needs: [capability('feedback'), scopes('runs:create', 'runs:read'), fixture(NOOP)] },
  [
    {
      id: 'listed',
      name: 'Each advertised kind of annotation of an ended run is answered 201, and is in the list of the run.',
      rule: RULE,
      needs: [scopes('runs:annotate')],
      async run(world) {
        const { major, target } = world;
        const { runId } = await endedRun(world);
        const kinds = z.array(z.string()).parse(advertised(target, major, 'feedback')?.signals ?? []);
        const made = [];
        for (const signal of SIGNALS.filter(({ kind }) => kinds.includes(kind))) {
          made.push(await annotate(world, runId, { signal, note: 'conformance' }));
        }
        const listed = await listOf(world, runId);
        const ids = made.map(({ annotationId }) => annotationId).sort();
        same(listed.map(({ annotationId }) => annotationId).sort(), ids, 'the ids of the annotations');
        for (const { target: of } of listed) same(of.runId, runId, 'target.runId');
      },
    },
    {
      id: 'bad-body-400',
      name: 'An annotation without its value, or with an unknown kind or member, is answered 400 `validation_error`.',
      rule: RULE,
      needs: [scopes('runs:annotate')],
      async run(world) {
        const { runId } = await endedRun(world);
        const bad: readonly unknown[] = [
          {},
          { signal: { kind: 'applause' } },
          { signal: { kind: 'rating' } },
          { signal: { kind: 'rating', rating: 6 } },
          { signal: { kind: 'label' } },
          { signal: { kind: 'flag' }, conformanceUnknownMember: true },
        ];
        for (const asked of bad) {
          refused(await world.api.post(`/runs/${segment(runId)}/annotations`, asked), 400, 'validation_error');
        }
      },
    },
    {
      id: 'unknown-404',
      name: 'The annotations of a run that does not exist are answered 404.',
      rule: RULE,
      async run({ api, major, target }) {
        refused(await api.get(`/runs/${segment(unknownId(major, target.tenant))}/annotations`), 404, 'not_found');
      },
    },
    {
      id: 'scope',
      name: 'Annotating a run requires the scope `runs:annotate`.',
      rule: ['Endpoints', 'operations.routes.required-scope'],
      needs: [key('readOnly')],
      async run(world) {
        const { runId } = await endedRun(world);
        const path = `/runs/${segment(runId)}/annotations`;
        refused(await world.as('readOnly').post(path, { signal: { kind: 'flag' } }), 403, 'forbidden');
      },
    },
    {
      id: 'workspace-apart',
      name: 'The annotations of a run are answered 403 `run_forbidden` to a key of another workspace.',
      rule: ['Authorization rules', 'auth.tenancy.workspace-apart'],
      needs: [key('otherWorkspace')],
      async run(world) {
        const { runId } = await endedRun(world);
        refused(await world.as('otherWorkspace').get(`/runs/${segment(runId)}/annotations`), 403, 'run_forbidden');
      },
    },
    {
      id: 'redacted',
      name: 'Text in the shape of a secret is not in the annotations of a run.',
      rule: ['Endpoints: run annotations', 'operations.annotations.redacted'],
      needs: [scopes('runs:annotate')],
      async run(world) {
        const { runId } = await endedRun(world);
        const note = `It used ${SECRET}.`;
        await annotate(world, runId, { signal: { kind: 'flag' }, note });
        const answer = await world.api.get(`/runs/${segment(runId)}/annotations`);
        body(answer, 200, LIST[world.major]);
        holds(!answer.text.includes(SECRET), 'a note without the secret', answer.text, answer);
      },
    },
  ],
);

const SECRET = 'sk-conformance0123456789';

const SIGNALS = [
  { kind: 'rating', rating: 4 },
  { kind: 'correction', correction: 'Better so.' },
  { kind: 'label', label: 'conformance' },
  { kind: 'flag' },
] as const;

async function annotate({ api, major }: World, runId: string, asked: object) {
  return body(await api.post(`/runs/${segment(runId)}/annotations`, asked), 201, annotation(major));
}

async function listOf({ api, major }: World, runId: string) {
  return body(await api.get(`/runs/${segment(runId)}/annotations`), 200, LIST[major]).annotations;
}

function annotation(major: Major) {
  return z.looseObject({
    annotationId: z.string().min(1),
    target: z.looseObject({ runId: resourceId[major] }),
    signal: z.looseObject({ kind: z.enum(['rating', 'correction', 'label', 'flag']) }),
    actor: z.looseObject({ principalRef: z.string().min(1) }),
    createdAt: time,
  });
}

const LIST = {
  1: z.looseObject({ annotations: z.array(annotation(1)) }),
  2: z.looseObject({ annotations: z.array(annotation(2)) }),
} as const;
