import type { Json } from '../json.ts';
import type { Run } from './runs.ts';
import type { Transaction } from './transaction.ts';

/** What a run has made. */
export interface Artifact {
  readonly artifactId: string;
  readonly runId: string;
  readonly nodeId?: string;
  readonly artifactType: string;
  readonly content: Json;
  readonly name?: string;
  /** In ms since the epoch. */
  readonly createdAt: number;
}

/** An artifact about to be made; the kit adds identity and time. */
export type NewArtifact = Pick<Artifact, 'nodeId' | 'artifactType' | 'content' | 'name'> & {
  /** In a few words, for `artifact.created`. */
  readonly summary?: string;
};

/** What runs have made. Holding the run is what permits a read. */
export interface ArtifactStore {
  insert(artifact: Artifact, transaction: Transaction): Promise<void>;
  read(run: Run, artifactId: string): Promise<Artifact | undefined>;
  /** Up to `limit` of a run, in the order in which they were made. */
  list(run: Run, limit: number): Promise<readonly Artifact[]>;
}
