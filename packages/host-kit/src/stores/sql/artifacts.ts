import type { Artifact } from '../../ports/artifacts.ts';
import { type Row, text } from './row.ts';

type Document = Omit<Artifact, 'runId' | 'artifactId'>;

export function artifactDocumentOf({ nodeId, artifactType, content, name, createdAt }: Artifact): string {
  const document: Record<keyof Document, unknown> = { nodeId, artifactType, content, name, createdAt };
  return JSON.stringify(document);
}

export function artifactOf(row: Row): Artifact {
  const document: Document = JSON.parse(text(row, 'document'));
  return { ...document, runId: text(row, 'run_id'), artifactId: text(row, 'artifact_id') };
}
