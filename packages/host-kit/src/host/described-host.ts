import type { mountsDocument } from '../routes/openapi.ts';
import { VERSION } from '../version.ts';
import type { Services } from './services.ts';

/** The facts about a host that its API descriptions state. */
export function describedHost(services: Services): Parameters<typeof mountsDocument>[2] {
  const { served, baseUrl, implementation, authentication, rateLimit, apiKeys, retirement } = services;
  return {
    served,
    baseUrl,
    implementation,
    version: VERSION,
    acceptsDpop: authentication.dpop !== undefined,
    // A stored key may have a limit of its own.
    limitsRate: rateLimit !== undefined || apiKeys !== undefined,
    retires: retirement !== undefined,
  };
}
