import { json } from '../http/description.ts';
import { type Route, route, routeWithBody } from '../http/route.ts';
import type { Save } from '../ports/idempotency.ts';
import type { Random } from '../ports/random.ts';
import { type Annotated, annotateRun, MOST_ANNOTATIONS } from '../runs/annotate.ts';
import type { RunServices } from '../runs/change-run.ts';
import { annotation, annotationBody, annotationExample, annotationRequest, annotations } from '../wire/annotation.ts';
import { addressedRun, type RunAddressOptions, runIdIn } from './run-address.ts';

export interface AnnotationRoutesOptions extends Pick<RunServices, 'store' | 'clock' | 'recordAudit'> {
  readonly served: RunAddressOptions['served'];
  readonly random: Random;
}

/** Defines the routes that create and list the annotations of a run. */
export function annotationRoutes(options: AnnotationRoutesOptions): Route[] {
  const { store, served } = options;
  return [
    routeWithBody({
      operationId: 'createAnnotation',
      scope: 'runs:annotate',
      schema: { 1: annotationRequest, 2: annotationRequest },
      describes: {
        tag: 'Runs',
        summary: 'Annotate a run',
        description:
          'Judges a run, whether it goes on or has ended. An annotation is no event: a fork does not have the ' +
          `annotations of its source. A run has at most ${MOST_ANNOTATIONS}. Text in the shape of a secret is replaced.`,
        example: annotationExample,
        answers: { 201: json('The annotation.', annotation) },
        errors: ['not_found', 'run_forbidden', 'id_tenant_mismatch'],
      },
      serve: (call, request, save: Save<Annotated>) =>
        annotateRun(options, call.principal, runIdIn(served, call), request, save),
      reply: (made, { major }) => ({ status: 201, body: annotationBody(major, made.run, made.annotation) }),
    }),
    route({
      operationId: 'listAnnotations',
      scope: 'runs:read',
      describes: {
        tag: 'Runs',
        summary: 'List the annotations of a run',
        description: 'All of them, in the order of their creation.',
        answers: { 200: json('The annotations.', annotations, { headers: ['Cache-Control'] }) },
        errors: ['not_found', 'run_forbidden', 'id_tenant_mismatch'],
      },
      async serve(call) {
        const run = await addressedRun({ store, served }, call);
        const found = await store.annotations.list(run, MOST_ANNOTATIONS);
        return {
          status: 200,
          headers: { 'cache-control': 'private, no-store' },
          body: { annotations: found.map((each) => annotationBody(call.major, run, each)) },
        };
      },
    }),
  ];
}
