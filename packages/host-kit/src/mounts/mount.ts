import type { DiscoveryOptions } from '../discovery/discovery-options.ts';
import type { Facets } from '../discovery/families.ts';
import type { RefusedRequest } from '../http/refusal.ts';
import type { MountRoute, Reply } from '../http/route.ts';
import type { HostPorts } from '../ports/host-ports.ts';
import type { RunPushes } from '../webhooks/push.ts';
import type { PushFormats } from '../webhooks/push-format.ts';
import type { CallerRuns } from './caller-runs.ts';

/** A surface of the host under `/host/<org>` that is not part of the protocol. */
export interface Mount {
  /** Its name in discovery, one word in lower kebab case. */
  readonly name: string;
  /** Its path after `/host/<org>`, with a leading slash. */
  readonly path: string;
  /** Its routes, with paths after `/host/<org>`. */
  readonly routes: readonly MountRoute[];
  /**
   * The API description of its routes alone, for a mount whose callers have credentials of their own. Default: that of all
   * mounts, at `/openapi.json`, describes them.
   */
  readonly describedApart?: {
    /** Its path after `/host/<org>`. */
    readonly path: string;
    /** The title of the description. */
    readonly title: string;
    /** The credential of its callers, in a sentence. */
    readonly credential: string;
  };
  /** Documents that need no credential, by their path after `/host/<org>`. Made on demand. Default: none. */
  readonly documents?: ReadonlyMap<string, () => Reply>;
  /**
   * Public documents at the origin, by their path, for clients that know the origin alone. A path that two mounts name
   * is not served. Default: none.
   */
  readonly originDocuments?: ReadonlyMap<string, () => Reply>;
  /** The formats of its pushes, by the name that a push stores. Default: none. */
  readonly pushFormats?: PushFormats;
  /** The families that it adds to discovery. Default: none. */
  readonly families?: Facets;
}

/** A function that makes the mount for one host. `createHost` calls it once. */
export type MountDefinition = (services: MountServices) => Mount;

/** The services of a host for its mounts. */
export interface MountServices extends Pick<HostPorts, 'clock' | 'random' | 'log'> {
  /** The operations on runs. */
  readonly runs: CallerRuns;
  /** The pushes of runs to URLs. */
  readonly pushes: RunPushes;
  /** The name and version of the host, for clients. */
  readonly implementation: { readonly name: string; readonly version: string };
  /** The public origin of the host, if it is configured. */
  readonly baseUrl: string | undefined;
  /** The segment `<org>` of `/host/<org>`. */
  readonly org: string;
  /** The time after its end for which a run is kept, in days. Undefined: for ever. */
  readonly runDays: number | undefined;
  /** Seals texts with the secret key of the host, for tokens of a mount. */
  readonly secrets: {
    /** Encrypts a text, and binds it to a name. Returns base64url. */
    readonly seal: (text: string, boundTo: string) => string;
    /** @throws {Error} when the text was changed, or sealed for another name or with another key */
    readonly open: (sealed: string, boundTo: string) => string;
  };
  /** The refusal that a caller receives for an error. Logs an unexpected error. */
  readonly refusalOf: (error: unknown) => RefusedRequest;
}

/** Returns the public documents of all mounts, by their full path. */
export function mountDocuments(prefix: string, mounts: readonly Mount[]): ReadonlyMap<string, () => Promise<Reply>> {
  const entries = mounts.flatMap(({ documents = [] }) => [...documents]);
  const atOrigin = mounts.flatMap(({ originDocuments = [] }) => [...originDocuments]);
  const unambiguous = atOrigin.filter(([path]) => atOrigin.filter(([other]) => other === path).length === 1);
  return new Map([
    ...entries.map(([path, reply]) => [prefix + path, async () => reply()] as const),
    ...unambiguous.map(([path, reply]) => [path, async () => reply()] as const),
  ]);
}

/** Returns the families that the mounts add to discovery. */
export function mountFamilies(mounts: readonly Mount[]): Facets {
  return Object.assign({}, ...mounts.map(({ families }) => families));
}

/** The path of each mount, for discovery. @see Interface: Versioning, Paths, 3 */
export function mountExtensions(org: string, mounts: readonly Mount[]): NonNullable<DiscoveryOptions['extensions']> {
  return Object.fromEntries(mounts.map(({ name, path }) => [`${org}.${name}`, { path: `/host/${org}${path}` }]));
}
