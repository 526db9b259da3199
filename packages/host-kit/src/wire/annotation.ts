import type { Major } from '@svc/versioning';
import { z } from 'zod';
import type { JsonObject } from '../json.ts';
import type { Annotation } from '../ports/annotations.ts';
import type { Run } from '../ports/runs.ts';
import type { NewAnnotation } from '../runs/annotate.ts';
import { runIdOf } from './event.ts';
import { runId } from './schemas.ts';

const eventId = z.string().regex(/^[A-Za-z0-9._~-]{16,128}$/);
const nodeId = z.string().regex(/^[A-Za-z0-9._~:-]{1,128}$/);

const signal = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('rating'), rating: z.int().min(1).max(5) }),
  z.strictObject({ kind: z.literal('correction'), correction: z.string().min(1).max(16_384) }),
  z.strictObject({ kind: z.literal('label'), label: z.string().min(1).max(256) }),
  z.strictObject({ kind: z.literal('flag') }),
]);
const note = z.string().min(1).max(4096);

/** The schema of the body of an annotation. Parses into the request of the domain. */
export const annotationRequest: z.ZodType<NewAnnotation> = z
  .strictObject({
    signal,
    target: z
      .strictObject({ eventId: eventId.optional(), nodeId: nodeId.optional() })
      .optional()
      .describe('The event or the node of the run that is judged. Default: the whole run.'),
    note: note.optional(),
  })
  .transform(({ target: { eventId: event, nodeId: node } = {}, note: text, ...asked }) => ({
    ...asked,
    ...(event !== undefined && { eventId: event }),
    ...(node !== undefined && { nodeId: node }),
    ...(text !== undefined && { note: text }),
  }));

export const annotationExample: JsonObject = { signal: { kind: 'rating', rating: 5 }, note: 'Just right.' };

/** The schema of an annotation. */
export const annotation: Readonly<Record<Major, z.ZodType>> = { 1: annotationIn(1), 2: annotationIn(2) };

function annotationIn(major: Major): z.ZodType {
  return z
    .strictObject({
      annotationId: z.string(),
      target: z.strictObject({ runId: runId[major], eventId: eventId.optional(), nodeId: nodeId.optional() }),
      signal,
      actor: z.strictObject({ principalRef: z.string() }).describe('The principal that judged.'),
      note: note.optional(),
      createdAt: z.iso.datetime(),
    })
    .meta({ id: 'Annotation' });
}

/** The schema of all annotations of a run. */
export const annotations: Readonly<Record<Major, z.ZodType>> = {
  1: z.strictObject({ annotations: z.array(annotation[1]) }).meta({ id: 'Annotations' }),
  2: z.strictObject({ annotations: z.array(annotation[2]) }).meta({ id: 'Annotations' }),
};

/** An annotation in the form of a major. */
export function annotationBody(major: Major, run: Run, stored: Annotation): JsonObject {
  const { eventId: event, nodeId: node } = stored;
  return {
    annotationId: stored.annotationId,
    target: {
      runId: runIdOf[major](run),
      ...(event !== undefined && { eventId: event }),
      ...(node !== undefined && { nodeId: node }),
    },
    signal: { ...stored.signal },
    actor: { principalRef: stored.actor },
    ...(stored.note !== undefined && { note: stored.note }),
    createdAt: new Date(stored.createdAt).toISOString(),
  };
}
