import type { RunEvent } from '../data/shapes.ts';
import { isObject } from './timeline.ts';

/** An artifact as the log of its run names it. */
export interface NamedArtifact {
  readonly artifactId: string;
  readonly type: string;
  readonly nodeId: string | undefined;
  readonly createdAt: string;
  readonly summary: string | undefined;
}

/** Finds the artifacts that the log of a run names, in their order. */
export function artifactsIn(events: readonly RunEvent[]): readonly NamedArtifact[] {
  return events.flatMap(({ type, payload, nodeId, timestamp }) => {
    if (type !== 'artifact.created' || !isObject(payload)) return [];
    const { artifactId, artifactType, summary } = payload;
    if (typeof artifactId !== 'string' || artifactId === '') return [];
    return [
      {
        artifactId,
        type: typeof artifactType === 'string' ? artifactType : 'unknown',
        nodeId,
        createdAt: timestamp,
        summary: typeof summary === 'string' ? summary : undefined,
      },
    ];
  });
}

/** Makes the name of a downloaded file: letters, digits, `-` and `_` alone, so that it names no folder and no program. */
export function fileName(artifactId: string): string {
  const safe = artifactId.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 100);
  return `${safe === '' ? 'artifact' : safe}.json`;
}

/** Returns a size for people, in units of 1000 bytes. */
export function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
