import type { Major } from '@svc/versioning';

/** Reads that are answered in the other major again. The defaults are in `MIRROR_DEFAULTS`. */
export interface MirrorOptions {
  /** The share of the reads that are compared: above 0, at most 1. Default 0.01. */
  readonly share: number;
  /** The most comparisons at a time, from 1 to 16. Reads beyond it are not compared. Default 2. */
  readonly maxConcurrent: number;
  /** The majors whose requests are compared. Default: `[1]`. */
  readonly majors: readonly Major[];
}

/** The defaults of `ProtocolOptions.mirrorReads`. */
export const MIRROR_DEFAULTS: MirrorOptions = { share: 0.01, maxConcurrent: 2, majors: [1] };
