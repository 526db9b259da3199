import type { Major } from '@svc/versioning';
import { z } from 'zod';
import type { JsonObject } from '../json.ts';
import type { Artifact } from '../ports/artifacts.ts';
import type { Run } from '../ports/runs.ts';
import { runIdOf } from './event.ts';
import { jsonValue, runId } from './schemas.ts';

/** The schema of an artifact in a major. */
export const artifact: Readonly<Record<Major, z.ZodType>> = { 1: schemaOf(1), 2: schemaOf(2) };

function schemaOf(major: Major): z.ZodType {
  return z
    .strictObject({
      artifactId: z.string(),
      runId: runId[major],
      nodeId: z.string().optional(),
      artifactType: z.string(),
      name: z.string().optional(),
      version: z.literal(1),
      createdAt: z.iso.datetime(),
      content: jsonValue,
    })
    .meta({ id: 'Artifact' });
}

/** An artifact of a run in the form of a major. */
export function artifactBody(major: Major, run: Run, stored: Artifact): JsonObject {
  const { artifactId, nodeId, artifactType, name, createdAt, content } = stored;
  return {
    artifactId,
    runId: runIdOf[major](run),
    ...(nodeId !== undefined && { nodeId }),
    artifactType,
    ...(name !== undefined && { name }),
    version: 1,
    createdAt: new Date(createdAt).toISOString(),
    content,
  };
}

/** The schema of an artifact in the form of A2A 1.0. */
export const a2aArtifact: z.ZodType = z
  .strictObject({
    artifactId: z.string(),
    name: z.string(),
    parts: z.array(z.union([z.strictObject({ text: z.string() }), z.strictObject({ data: jsonValue })])).min(1),
  })
  .meta({ id: 'A2aArtifact' });

/** An artifact in the form of A2A 1.0, with one part: text for a string, data for any other content. */
export function a2aArtifactBody({ artifactId, name, artifactType, content }: Artifact): JsonObject {
  const part = typeof content === 'string' ? { text: content } : { data: content };
  return { artifactId, name: name ?? artifactType, parts: [part] };
}
