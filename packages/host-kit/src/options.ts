import type { Lane } from '@svc/auth';
import type { EgressPolicy } from '@svc/egress-guard';
import type { DiscoveryOptions } from './discovery/discovery-options.ts';
import type { MountDefinition } from './mounts/mount.ts';
import type { AuditOptions } from './options/audit-options.ts';
import type { AuthorizationOptions } from './options/authorization-options.ts';
import type { FeatureOptions } from './options/feature-options.ts';
import type { HttpOptions } from './options/http-options.ts';
import type { PortOptions } from './options/port-options.ts';
import type { ProtocolOptions } from './options/protocol-options.ts';
import type { RetentionOptions } from './options/retention-options.ts';
import type { WebhookSettings } from './options/webhook-options.ts';
import type { AnyEngine } from './ports/engine.ts';
import type { Store } from './ports/store.ts';
import type { SecretKey, SecretKeys } from './sealing/secret-key.ts';

/**
 * The options of `createHost`: four that every host has, and groups of which each takes its defaults.
 *
 * @example
 * const options: HostOptions = {
 *   store: sqliteStore('svc.db'),
 *   authenticate: [apiKeys({ [key]: { tenant: 'acme', scopes: ['runs:*'] } })],
 *   engine: { greet: async ({ inputs }) => ({ greeting: `Hello, ${inputs.name}` }) },
 *   secretKey: secretKeyFile('svc.db-secret-key'),
 * };
 */
export interface HostOptions {
  /** Runs, events, subscriptions and deliveries are stored here. The host closes it in `stop`. */
  readonly store: Store;
  /**
   * The lanes that authenticate callers, in the order in which they are asked. At least one. Discovery, challenges and the
   * metadata of RFC 9728 name what they accept, with the URLs of the issuers. Anyone can read these documents.
   */
  readonly authenticate: readonly Lane[];
  /**
   * Executes the workflows: functions by workflow id, each of which resolves with the outputs of a run; an engine; or one function
   * that executes every run.
   */
  readonly engine: AnyEngine;
  /**
   * 32 random bytes: as bytes, or as text of 64 hexadecimal digits or of base64. Encrypts webhook secrets, tenants' secrets and
   * stored replies (AES-256-GCM). `{ current, former }` while the key is replaced.
   */
  readonly secretKey: SecretKey | SecretKeys;
  /** The public origin of the host, e.g. `https://svc.example.com`. Required of a host that accepts tokens. */
  readonly baseUrl?: string;
  /** The segment of `/host/<org>/`, the path of every mount. Lower kebab case. Default `example`. */
  readonly org?: string;
  /** The protocol versions that are served, and the retirement of major 1. */
  readonly protocol?: ProtocolOptions;
  /** The workspaces, roles and sign-ins that decide beside the scopes of a credential. Default: scopes decide alone. */
  readonly authorization?: AuthorizationOptions;
  /** The limits of requests, and the form of answers. */
  readonly http?: HttpOptions;
  /** Delivery of events. Each missing member takes its default. */
  readonly webhooks?: WebhookSettings;
  /** The URLs that subscriptions may point at. Default: public addresses over https. */
  readonly egress?: EgressPolicy;
  /** Further services of the host: keys, a portal, triggers and more. Default: none. */
  readonly features?: FeatureOptions;
  /** Further protocols under `/host/<org>/`: `a2a`, `mcp` and `chat` of `@svc/host-kit/mounts/…`. Default: none. */
  readonly mounts?: readonly MountDefinition[];
  /** Facts and capabilities for discovery, beside those of the kit. Default: none. */
  readonly discovery?: DiscoveryOptions;
  /** Keeps an audit log. Default: no audit log. */
  readonly audit?: AuditOptions;
  /**
   * The times after which records are removed. Default: runs and the entries of the audit log are kept for ever, replies to
   * keyed requests for 24 hours, effects for 30 days, counts of deliveries for 7, callers of each major for 90. Dead letters have
   * `webhooks.deadLetterRetentionDays`.
   */
  readonly retention?: Partial<RetentionOptions>;
  /** The surroundings of the host: its log, telemetry, clock and randomness, and the functions that send. */
  readonly ports?: PortOptions;
}
