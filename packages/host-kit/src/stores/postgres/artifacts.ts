import type { ArtifactStore } from '../../ports/artifacts.ts';
import { artifactDocumentOf, artifactOf } from '../sql/artifacts.ts';
import type { Database } from './database.ts';

const INSERT = {
  name: 'artifacts-insert',
  text: 'INSERT INTO artifacts (run_id, artifact_id, document) VALUES ($1, $2, $3)',
};
const READ = { name: 'artifacts-read', text: 'SELECT * FROM artifacts WHERE run_id = $1 AND artifact_id = $2' };
const LIST = {
  name: 'artifacts-list',
  text: 'SELECT * FROM artifacts WHERE run_id = $1 ORDER BY artifact_id LIMIT $2',
};

export function artifactStore(database: Database): ArtifactStore {
  return {
    async insert(artifact, transaction) {
      const values = [artifact.runId, artifact.artifactId, artifactDocumentOf(artifact)];
      await database.within(transaction, INSERT, values);
    },
    async read({ runId }, artifactId) {
      const [row] = (await database.query(READ, [runId, artifactId])).rows;
      return row === undefined ? undefined : artifactOf(row);
    },
    async list({ runId }, limit) {
      return (await database.query(LIST, [runId, limit])).rows.map(artifactOf);
    },
  };
}
