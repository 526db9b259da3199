import type { StoredAccess } from '../access/access-model.ts';
import type { WorkspaceDiscovery } from '../discovery/workspace-view.ts';
import type { StoredKeys } from '../keys/stored-keys.ts';
import type { WorkspaceFileLimits } from '../workspace/files.ts';
import type { DebugBundleKeys } from './debug-bundle-keys.ts';
import type { PortalOptions } from './portal-options.ts';
import type { TriggerOptions } from './trigger-options.ts';

/**
 * Services of a host beside runs, webhooks and discovery. A feature that is left out is not served.
 *
 * @example
 * const features: FeatureOptions = { workspaceFiles: {}, triggers: { maxPerTenant: 100 } };
 */
export interface FeatureOptions {
  /**
   * Serves `/host/<org>/keys`: callers with the scope `keys:manage` create, list, change, rotate and revoke keys. Pass the
   * same `storedKeys` to `apiKeyLane`.
   */
  readonly apiKeys?: StoredKeys;
  /**
   * Serves `/host/<org>/withdrawals`: callers with the scope `withdrawals:manage` withdraw people, tokens and sessions.
   * With `roles` of `storedAccess` also `/host/<org>/roles` and `/host/<org>/assignments`: callers with the scope
   * `roles:manage` give others what they hold. With `workloads` of `storedAccess` also `/host/<org>/workload-bindings`, where
   * these callers bind workloads. Pass its `directory` to `roleAuthorizer`, and its `resolveWorkload` to `workloadLane`.
   */
  readonly access?: StoredAccess;
  /**
   * Serves `/host/<org>/portal-sessions`, where callers with the scope `webhooks:manage` create sessions for their customers,
   * and `/host/<org>/portal`, the operations of a session.
   */
  readonly portal?: PortalOptions;
  /**
   * Serves trigger subscriptions: messages of other systems that start runs. Needs `baseUrl`. `{}` takes every default.
   */
  readonly triggers?: Partial<TriggerOptions>;
  /** Serves workspace files, with these limits. `{}` takes every default. */
  readonly workspaceFiles?: Partial<WorkspaceFileLimits>;
  /**
   * Serves `/host/<org>/discovery`: the part of the discovery document that the workspaces of the caller see. Without it
   * every caller sees the whole document.
   */
  readonly workspaceDiscovery?: WorkspaceDiscovery;
  /** Serves `/host/<org>/runs/{runId}/debug-bundle`, and names the keys in `signingKeys` of discovery. */
  readonly debugBundles?: DebugBundleKeys;
}
