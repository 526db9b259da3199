import type { HostCapabilities } from '../discovery/capabilities.ts';
import type { Facets } from '../discovery/families.ts';
import type { Refusal } from '../http/refusal.ts';
import type { MountRoute, Reply } from '../http/route.ts';
import type { Clock } from '../ports/clock.ts';
import type { Random } from '../ports/random.ts';
import type { Pushes } from '../webhooks/push.ts';
import type { PushFormats } from '../webhooks/push-format.ts';
import type { CallerRuns } from './caller-runs.ts';

/** A surface of the host's own under `/host/<org>`. */
export interface Mount {
  /** One lower-kebab word, its name in discovery. */
  readonly name: string;
  /** Behind `/host/<org>`. */
  readonly path: string;
  readonly routes: readonly MountRoute[];
  /** Public documents, by their path behind `/host/<org>`. */
  readonly documents?: ReadonlyMap<string, Reply>;
  /** How it words what it pushes. */
  readonly pushFormats?: PushFormats;
  /** What discovery tells of it beside its place. */
  readonly families?: Facets;
}

/** Makes a mount for one host. */
export type MountDefinition = (services: MountServices) => Mount;

/** What a host gives to its mounts. */
export interface MountServices {
  readonly runs: CallerRuns;
  readonly pushes: Pushes;
  readonly clock: Clock;
  readonly random: Random;
  readonly implementation: { readonly name: string; readonly version: string };
  /** Where clients reach the host, and under which organization. */
  readonly baseUrl: string | undefined;
  readonly org: string;
  /** What a caller is told of an error. */
  readonly refusalOf: (error: unknown) => Refusal;
}

/** What mounts serve to everybody. */
export function mountDocuments(prefix: string, mounts: readonly Mount[]): ReadonlyMap<string, () => Promise<Reply>> {
  const entries = mounts.flatMap(({ documents = [] }) => [...documents]);
  return new Map(entries.map(([path, reply]) => [prefix + path, async () => reply]));
}

/** What mounts add to discovery. */
export function mountFamilies(mounts: readonly Mount[]): Facets {
  return Object.assign({}, ...mounts.map(({ families }) => families));
}

/** Where each mount is, for discovery. @see Interface: Versioning, Paths, 3 */
export function mountExtensions(org: string, mounts: readonly Mount[]): NonNullable<HostCapabilities['extensions']> {
  return Object.fromEntries(mounts.map(({ name, path }) => [`${org}.${name}`, { path: `/host/${org}${path}` }]));
}
