import type { Artifact, ArtifactStore } from '../../ports/artifacts.ts';
import { type Journal, put } from './journal.ts';
import { dropFrom, type RecordsOfRuns } from './records-of-runs.ts';

export function artifactStore(journal: Journal): ArtifactStore & RecordsOfRuns {
  const artifacts = new Map<string, Artifact>();
  return {
    drop: dropFrom(journal, artifacts),
    async insert(artifact, transaction) {
      put(journal, transaction, artifacts, `${artifact.runId}/${artifact.artifactId}`, artifact);
    },
    async read({ runId }, artifactId) {
      return artifacts.get(`${runId}/${artifactId}`);
    },
    async list({ runId }, limit) {
      const made = [...artifacts.values()].filter((artifact) => artifact.runId === runId);
      return made.sort((a, b) => (a.artifactId < b.artifactId ? -1 : 1)).slice(0, limit);
    },
  };
}
