import type { z } from 'zod';
import type { ENVELOPE_KINDS, EXTENSIONS, Facets, Family, LIMITS, METADATA } from './families.ts';
import type { Claim } from './schema-v2.ts';

export type { Facets, Family } from './families.ts';

/** What a host tells of itself beside what the kit serves. It tells what it serves, and nothing else. */
export interface HostCapabilities {
  /** The families that it serves, each with its facets. A limit that is left out is the interface's. */
  readonly families?: Facets;
  /** How major 2 words the claim of a family. Default: stable, since the version that is served, witnessable without aid. */
  readonly claims?: { readonly [Name in Family]?: Partial<Claim> };
  /**
   * The opt-in profile for experimental families. Without it they are left out of both documents.
   *
   * @see Interface: Releases and schemas, 4
   */
  readonly experimental?: boolean;
  /**
   * How far its engine lets a run go. What is left out is the interface's: 1000 nodes, ten minutes. Without it neither is told.
   *
   * @see Interface: Limits
   */
  readonly limits?: { readonly [Name in Exclude<keyof z.input<typeof LIMITS>, 'maxRequestBodyBytes'>]?: number };
  readonly signingKeys?: z.input<NonNullable<(typeof METADATA)['signingKeys']>>;
  /** By `<org>.<name>`; a vendor mount under `/host/<org>/` belongs here. */
  readonly extensions?: z.input<typeof EXTENSIONS>;
  /** `host.sample.<name>`; major 1 alone. */
  readonly featureSurfaces?: readonly string[];
  readonly fixtures?: readonly string[];
  readonly envelopeKinds?: readonly (typeof ENVELOPE_KINDS)[number][];
}
