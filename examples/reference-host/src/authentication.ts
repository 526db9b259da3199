import { type Lane, type RefusalLimit, type RoleAuthorizer, type RoleDirectory, roleAuthorizer } from '@svc/auth';
import { apiKeyLane, type KeyStore } from '@svc/auth/api-key';
import { bearerLane, pseudonyms } from '@svc/auth/bearer';
import { type DpopVerifier, dpopVerifier, statelessNonces } from '@svc/auth/dpop';
import { type CertificateOf, clientCertificates } from '@svc/auth/mtls';
import type { WorkloadLaneOptions } from '@svc/auth/workload';
import type { Log, StoredKeys } from '@svc/host-kit';
import { within } from './address-blocks.ts';
import type { CallerRecords } from './caller-records.ts';
import { clientOf, isWithin } from './client-address.ts';
import type { Config } from './config.ts';
import { derivedKey } from './derived-key.ts';
import { identityFetch } from './identity-fetch.ts';
import { comparedWithIssuers } from './issuer-clock.ts';
import { opaqueTokensLane } from './opaque-tokens.ts';
import { tokenIssuers } from './token-issuers.ts';
import { workloadsLane } from './workloads-lane.ts';

export interface Authentication {
  readonly lanes: readonly Lane[];
  readonly refusals: RefusalLimit;
  readonly roles: RoleAuthorizer | undefined;
}

/** The parts of authentication that a configuration does not contain. */
export interface AuthenticationParts {
  /** The origin at which clients reach the host, which DPoP proofs name. */
  readonly baseUrl: string;
  /** The secret key of the host. */
  readonly secret: Uint8Array;
  readonly keys: KeyStore & Partial<Pick<StoredKeys, 'onUsed'>>;
  /** The stored roles and assignments. */
  readonly directory: RoleDirectory;
  /** Returns the binding of a workload. */
  readonly resolveWorkload: WorkloadLaneOptions['resolve'];
  readonly records: CallerRecords;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly log: Log;
}

/**
 * Assembles the authentication that a configuration describes. The lanes for tokens stand before the lane for API keys,
 * because each of them skips credentials that are not of its issuers.
 */
export function authentication(
  config: Config,
  { baseUrl, secret, keys, directory, resolveWorkload, records, now, log }: AuthenticationParts,
): Authentication {
  const constraints = { dpop: dpop(config, baseUrl, secret, records, now), certificateOf: certificates(config) };
  const fetch = comparedWithIssuers(identityFetch(config), { now, log });
  const principalOf = principals(config, secret);
  const issuers = tokenIssuers(config, principalOf, fetch);
  const workloads = workloadsLane(config, { resolveWorkload, fetch, now, ...constraints });
  return {
    lanes: [
      ...(workloads === undefined ? [] : [workloads]),
      ...(issuers.length === 0 ? [] : [bearerLane({ issuers, fetch, now, ...constraints })]),
      ...(config.introspection === undefined
        ? []
        : [opaqueTokensLane(config.introspection, { config, keys, principalOf, fetch, now, ...constraints })]),
      apiKeyLane({
        keys,
        now,
        ...(keys.onUsed !== undefined && { onUsed: keys.onUsed }),
        isWithin: isWithin(config),
        issuer: apiKeyIssuer(config),
      }),
    ],
    refusals: { limiter: records.refusals, clientOf: clientOf(config) },
    roles: roles(config, directory),
  };
}

/** Returns the issuer in the Subjects of API keys, which tells the keys of two hosts apart. */
function apiKeyIssuer({ apiKeyIssuer, org }: Config): string {
  return apiKeyIssuer ?? `urn:svc:api-key:${org}`;
}

/** Pseudonyms depend on this key. It has to stay when secretKey is replaced, or every user gets a new pseudonym. */
function principals({ pseudonymKey }: Config, secret: Uint8Array): ReturnType<typeof pseudonyms> {
  return pseudonyms(
    derivedKey(pseudonymKey === undefined ? secret : Buffer.from(pseudonymKey, 'base64'), 'principals'),
  );
}

function dpop(
  config: Config,
  baseUrl: string,
  secret: Uint8Array,
  records: CallerRecords,
  now: () => number,
): DpopVerifier {
  const nonces =
    config.dpop?.nonce === true ? statelessNonces({ secret: derivedKey(secret, 'dpop nonces'), now }) : undefined;
  const { replays, proofsPerHolder: perHolder } = records;
  return dpopVerifier({ origin: baseUrl, replays, now, nonces, perHolder });
}

function certificates({ mtls }: Config): CertificateOf {
  if (mtls === undefined) return clientCertificates();
  return clientCertificates({ terminator: { isTrustedPeer: within(mtls.trustedTerminator), header: mtls.header } });
}

function roles({ authorization }: Config, directory: RoleDirectory): RoleAuthorizer | undefined {
  return authorization && roleAuthorizer({ catalog: authorization.roles, directory });
}
