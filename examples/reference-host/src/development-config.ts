/** The tenant of the development host. Its pages and examples name it. */
export const TENANT = 'acme';

/** The workspace of its key, and of the registration of its subscriber. */
export const WORKSPACE = 'acme-prod';

/** The facts about one start. */
export interface DevelopmentFacts {
  readonly key: string;
  readonly hostPort: number;
  /** The ports of this machine to which the host may deliver. */
  readonly receiverPorts: readonly number[];
  /** The store, and what belongs to it. */
  readonly store: { readonly store: string; readonly engine?: string; readonly secretKey?: string };
}

/** The configuration of the host that `npm start` starts. Every example of `docs/api.md` works on it. */
export function developmentConfig({ key, hostPort, receiverPorts, store }: DevelopmentFacts): object {
  return {
    listen: { host: '127.0.0.1', port: hostPort },
    ...store,
    tenants: [{ id: TENANT, workspaces: [WORKSPACE] }],
    apiKeys: [
      {
        id: 'key_development',
        key,
        tenant: TENANT,
        workspaces: [WORKSPACE],
        principal: 'p_developer',
        scopes: [
          ...['manifest:read', 'runs:create', 'runs:read', 'runs:cancel', 'runs:annotate', 'artifacts:read'],
          ...['approvals:respond', 'approvals:override', 'workspace:read', 'workspace:write', 'byok:manage'],
          ...['webhooks:manage', 'audit:read', 'keys:manage'],
        ],
        mode: 'live',
      },
    ],
    console: true,
    portal: true,
    rateLimit: { limit: 600, windowSeconds: 60 },
    webhooks: { durable: true, retryPolicy: RETRIES },
    egress: { allowLoopback: receiverPorts },
  };
}

/** The default of the kit. That of this host's configuration is the interface's: three attempts. */
const RETRIES = { maxAttempts: 18, backoff: 'exponential', delayMs: 1000, maxDelayMs: 21_600_000 };
