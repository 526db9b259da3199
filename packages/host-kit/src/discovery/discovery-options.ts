import type { z } from 'zod';
import type { KitFamily } from './described-families.ts';
import type { ENVELOPE_KINDS, EXTENSIONS, Facets, Family, LIMITS, METADATA } from './families.ts';
import type { Claim } from './schema-v2.ts';

export type { Facets, Family } from './families.ts';

/**
 * Facts and capabilities that discovery states besides those of the kit. Declare only capabilities that the host serves;
 * `createHost` throws a `TypeError` for one that the interface does not know in that form.
 *
 * @example
 * createHost({ …, discovery: { families: { i18n: { default: 'en', supported: ['en'] } } } });
 */
export interface DiscoveryOptions {
  /** The host software. Default: this package. */
  readonly implementation?: {
    /** The name of the host software. */
    readonly name: string;
    /** Its version. */
    readonly version: string;
    /** The organization that makes it. */
    readonly vendor: string;
  };
  /**
   * Capability families, each with its facets. An absent limit gets the value of the interface's reference host. The
   * families that the kit serves are not among them: the kit describes those from the options of `createHost`.
   */
  readonly families?: Omit<Facets, KitFamily>;
  /**
   * Families that the interface does not have, by a name in lower camel case. Each has its facets, and its claim in
   * major 2.
   *
   * @example
   * { speechToText: { facets: { languages: ['en'] }, claim: { status: 'stable' } } }
   */
  readonly otherFamilies?: {
    readonly [name: string]: { readonly facets?: object; readonly claim?: Partial<Claim> };
  };
  /** The claim of a family in major 2. Default: `stable`, since the served version, `witnessable-unaided`. */
  readonly claims?: Readonly<Partial<Record<Family, Partial<Claim>>>>;
  /**
   * True: families whose claim is `experimental` are advertised. Default false: they are left out of both documents.
   *
   * @see Interface: Releases and schemas, 4
   */
  readonly experimental?: boolean;
  /**
   * The limits of a run. Absent members get the interface's values, such as 1 000 node executions and 600 000 ms.
   * Default: no limits of runs are advertised, and only `clarificationRounds` is enforced.
   *
   * The kit enforces `maxNodeExecutions` and `maxLoopIterations` for every engine that records its nodes, and
   * `maxRunDurationMs`, which leaves out the time in which a run waits or is paused. A breach records `cap.breached` and
   * fails the run with `recursion_limit_exceeded`, `loop_limit_exceeded` or `run_timeout`. A node that asks for more
   * clarifications than `clarificationRounds` fails its run with `loop_limit_exceeded`. The engine itself enforces the
   * others.
   *
   * @example
   * limits: { maxNodeExecutions: 5000, maxRunDurationMs: 3_600_000 }
   * @see Interface: Limits
   */
  readonly limits?: Readonly<Partial<Record<Exclude<keyof z.input<typeof LIMITS>, 'maxRequestBodyBytes'>, number>>>;
  /** Public keys that certification bundles of this host are signed with. */
  readonly signingKeys?: z.input<NonNullable<(typeof METADATA)['signingKeys']>>;
  /**
   * The release of the conformance suite that the host was held to, as three integers joined by dots. Published in
   * major 1 alone.
   */
  readonly contractProvenance?: {
    /** The version of the suite. */
    readonly suiteVersion: string;
  };
  /**
   * Facts about the surroundings of the credentials, which no lane knows. Published in major 1; `mtls` also in the extension
   * `<org>.authentication`.
   */
  readonly authentication?: {
    /** Client certificates beside another credential: the profile `svc-auth-mtls`. */
    readonly mtls?: {
      /** Whether connections without a certificate are refused. */
      readonly required: boolean;
      /** One sentence about the mapping of a certificate to a tenant. */
      readonly subjectMapping: string;
    };
    /** Rotation of API keys. */
    readonly rotation?: {
      /** A former key stays valid for at least this many seconds. */
      readonly minGraceSeconds: number;
    };
  };
  /** Vendor extensions by `<org>.<name>`. List those that are mounted under `/host/<org>/`. */
  readonly extensions?: z.input<typeof EXTENSIONS>;
  /** Names of feature surfaces, `host.sample.<name>`. Published in major 1 alone. */
  readonly featureSurfaces?: readonly string[];
  /** Names of the conformance fixtures that the host provides. */
  readonly fixtures?: readonly string[];
  /** Kinds of envelopes that runs of this host use. */
  readonly envelopeKinds?: readonly (typeof ENVELOPE_KINDS)[number][];
}
