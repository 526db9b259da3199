import type { RetryPolicy } from '../webhooks/retry.ts';
import type { HostCapabilities } from './capabilities.ts';

/** What a host is and does, as both documents tell it. */
export interface HostFacts {
  readonly versions: readonly string[];
  readonly preferred: string;
  readonly minClientVersion: string | undefined;
  readonly implementation: { readonly name: string; readonly version: string; readonly vendor: string };
  readonly engineVersion: number;
  readonly maxRequestBodyBytes: number;
  readonly webhooks: {
    /** Whether subscriptions of major 1 are durable; those of major 2 always are. */
    readonly durable: boolean;
    readonly retryPolicy: RetryPolicy;
  };
  /** The realm that API-key Subjects name as their issuer. */
  readonly apiKeyIssuer: string;
  /** What it serves beside the kit. */
  readonly capabilities: HostCapabilities;
}
