import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import type { Artifact } from '../ports/artifacts.ts';
import type { Run } from '../ports/runs.ts';

/** A file of a message, in its document until the run is started. */
export interface StartAttachment {
  readonly artifactId: string;
  readonly name?: string;
  readonly mediaType: string;
  /** In bytes. */
  readonly size: number;
  /** In hexadecimal digits. */
  readonly sha256: string;
  /** In Base64. */
  readonly content: string;
}

/** The type of an artifact that is a file of the message which started its run. */
const ATTACHMENT_TYPE = 'attachment';

/** Returns the attachments in the document of a message as artifacts of its run. */
export function attachmentArtifacts(document: JsonObject, { runId, createdAt }: Run): readonly Artifact[] {
  // Documents of senders have their content below `body`.
  if (document.source !== 'email' || !Array.isArray(document.attachments)) return [];
  return document.attachments.filter(isAttachment).map(({ artifactId, name, content, ...facts }) => ({
    ...{ artifactId, runId, artifactType: ATTACHMENT_TYPE, createdAt },
    ...(name !== undefined && { name }),
    content: { ...facts, encoding: 'base64', data: content },
  }));
}

function isAttachment(value: Json): value is JsonObject & StartAttachment {
  return (
    isJsonObject(value) &&
    [value.artifactId, value.mediaType, value.sha256, value.content].every((member) => typeof member === 'string') &&
    typeof value.size === 'number' &&
    (value.name === undefined || typeof value.name === 'string')
  );
}
