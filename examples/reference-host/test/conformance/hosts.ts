import { type BootedHost, bootHost, scratch } from '../booted-host.ts';
import { conformingConfig } from './conforming-config.ts';

export interface ConformingHost {
  readonly url: string;
  stop(): Promise<void>;
}

/** Configurations of the hosts under test. */
export const HOSTS = {
  durable: { webhooks: { durable: true } },
  /** Serves triggers. The others do not, and answer as the interface says. */
  triggers: { webhooks: { durable: true }, triggers: {} },
  'best-effort': { webhooks: { durable: false } },
  /** Rejects loopback receivers. */
  closed: { egress: { allowLoopback: false } },
  limited: { rateLimit: { limit: 300, windowSeconds: 60 } },
  floor: { protocol: { minClientVersion: '1.0' } },
  retired: { protocol: { versions: ['2.0'] } },
  tokens: {
    baseUrl: 'https://svc.example.com',
    oidc: { issuers: [{ issuer: 'https://idp.example.invalid', audience: 'svc', pseudonymous: true }] },
  },
} as const;

export type HostName = keyof typeof HOSTS;

/** Boots the reference host with all keys of the suite. */
export async function bootConforming(changes: object = {}): Promise<ConformingHost> {
  const folder = scratch();
  const host: BootedHost = await bootHost(folder.path('config.json'), conformingConfig(folder.path('svc.db'), changes));
  return {
    url: host.url,
    async stop() {
      host.process.kill('SIGKILL');
      await host.ended;
      folder.remove();
    },
  };
}
