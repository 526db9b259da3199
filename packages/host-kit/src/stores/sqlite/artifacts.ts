import type { DatabaseSync } from 'node:sqlite';
import type { ArtifactStore } from '../../ports/artifacts.ts';
import { artifactDocumentOf, artifactOf } from '../sql/artifacts.ts';
import type { Writer } from './writer.ts';

const INSERT = 'INSERT INTO artifacts (run_id, artifact_id, document) VALUES (?, ?, ?)';
const READ = 'SELECT * FROM artifacts WHERE run_id = ? AND artifact_id = ?';
const LIST = 'SELECT * FROM artifacts WHERE run_id = ? ORDER BY artifact_id LIMIT ?';

export function artifactStore(reader: DatabaseSync, database: DatabaseSync, writer: Writer): ArtifactStore {
  const insert = database.prepare(INSERT);
  const read = reader.prepare(READ);
  const list = reader.prepare(LIST);

  return {
    async insert(artifact, transaction) {
      writer.require(transaction);
      insert.run(artifact.runId, artifact.artifactId, artifactDocumentOf(artifact));
    },
    async read({ runId }, artifactId) {
      const row = read.get(runId, artifactId);
      return row === undefined ? undefined : artifactOf(row);
    },
    async list({ runId }, limit) {
      return list.all(runId, limit).map(artifactOf);
    },
  };
}
