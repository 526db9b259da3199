import type { Json } from '../json.ts';
import type { Run } from './runs.ts';
import type { Transaction } from './transaction.ts';

/** A result that a run produced, immutable. */
export interface Artifact {
  /** Unique within the run; sorts by time of creation. */
  readonly artifactId: string;
  readonly runId: string;
  /** The node that produced it. Absent: no single node did. */
  readonly nodeId?: string;
  /** The engine's name for this kind of artifact, such as `draft`. */
  readonly artifactType: string;
  /** The artifact itself. */
  readonly content: Json;
  /** A name for people. */
  readonly name?: string;
  /** In ms since the epoch. */
  readonly createdAt: number;
}

/** An artifact as an engine hands it over. The kit adds its identity and time. */
export type NewArtifact = Pick<Artifact, 'nodeId' | 'artifactType' | 'content' | 'name'> & {
  /** A few words about the artifact, published in `artifact.created`. */
  readonly summary?: string;
};

/** The artifacts of all runs. Each method trusts its caller to have the right to the run. */
export interface ArtifactStore {
  /** Adds an artifact. */
  insert(artifact: Artifact, transaction: Transaction): Promise<void>;
  /** Returns an artifact of this run, or undefined when the run has none of this id. */
  read(run: Run, artifactId: string): Promise<Artifact | undefined>;
  /** Returns up to `limit` artifacts of a run by ascending `artifactId`, which is the order of their creation. */
  list(run: Run, limit: number): Promise<readonly Artifact[]>;
}
