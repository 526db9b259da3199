import type { Lane } from '@svc/auth';
import type { KeyFetch } from '@svc/auth/bearer';
import type { DpopVerifier } from '@svc/auth/dpop';
import type { CertificateOf } from '@svc/auth/mtls';
import { statusLists } from '@svc/auth/status-list';
import {
  cloudSubject,
  jwtSvid,
  oauthClient,
  trustDomainKeys,
  type WorkloadLaneOptions,
  type WorkloadScheme,
  workloadLane,
} from '@svc/auth/workload';
import { mtlsSan, x509Svid } from '@svc/auth/workload/x509';
import type { Config } from './config.ts';
import { certificatesIn, keysIn } from './key-files.ts';

interface WorkloadContext {
  readonly resolveWorkload: WorkloadLaneOptions['resolve'];
  readonly fetch: KeyFetch;
  readonly dpop: DpopVerifier;
  readonly certificateOf: CertificateOf;
  readonly now: () => number;
}

/** Makes the lane for workloads. Undefined: no workload is accepted. */
export function workloadsLane(config: Config, context: WorkloadContext): Lane | undefined {
  const { workloadIdentity: workloads } = config;
  if (workloads === undefined) return undefined;
  const { audience, senderConstraint, delegation } = workloads;
  const rules = delegation && {
    maxChainDepth: delegation.maxChainDepth,
    issuers: delegation.issuers.map(({ issuer, jwksFile }) => ({ issuer, keys: keysIn(jwksFile) })),
    audience,
  };
  return workloadLane({
    schemes: schemesOf(workloads, context),
    audience,
    resolve: context.resolveWorkload,
    senderConstraint,
    ...(rules !== undefined && { delegation: rules }),
    subjectMapping:
      'The operator, or a tenant within the grants of the operator, binds each subject, by its exact text and its issuer, to a principal.',
    dpop: context.dpop,
    certificateOf: context.certificateOf,
    now: context.now,
  });
}

type Workloads = NonNullable<Config['workloadIdentity']>;

function schemesOf(
  { schemes, trustDomains, issuers, mtlsSan: san }: Workloads,
  { fetch, certificateOf, now }: Pick<WorkloadContext, 'fetch' | 'certificateOf' | 'now'>,
): readonly WorkloadScheme[] {
  const listsOf = (lists: Workloads['issuers'][number]['statusLists']) =>
    lists === undefined ? {} : { statusLists: statusLists({ ...lists, fetch }) };
  const byToken = trustDomains.flatMap(({ name, jwksFile, statusLists: lists }) =>
    jwksFile === undefined ? [] : [{ name, keys: keysIn(jwksFile, trustDomainKeys), ...listsOf(lists) }],
  );
  const byCertificate = trustDomains.flatMap(({ name, authoritiesFile }) =>
    authoritiesFile === undefined ? [] : [{ name, authorities: certificatesIn(authoritiesFile) }],
  );
  const issuersOf = (scheme: string) =>
    issuers
      .filter((entry) => entry.scheme === scheme)
      .map(({ issuer, jwksUri, jwksFile, statusLists: lists }) => ({
        issuer,
        ...listsOf(lists),
        ...(jwksUri !== undefined && { jwksUri }),
        ...(jwksFile !== undefined && { keys: keysIn(jwksFile) }),
      }));
  const made: Readonly<Record<Workloads['schemes'][number], () => readonly WorkloadScheme[]>> = {
    spiffe: () => [
      ...(byToken.length === 0 ? [] : [jwtSvid({ trustDomains: byToken, now })]),
      ...(byCertificate.length === 0 ? [] : [x509Svid({ certificateOf, trustDomains: byCertificate })]),
    ],
    'mtls-san': () =>
      san === undefined
        ? []
        : [mtlsSan({ certificateOf, authorities: certificatesIn(san.authoritiesFile), issuer: san.issuer })],
    'cloud-subject': () => [cloudSubject({ issuers: issuersOf('cloud-subject'), fetch, now })],
    'oauth-client': () => [oauthClient({ issuers: issuersOf('oauth-client'), fetch, now })],
  };
  return schemes.flatMap((scheme) => made[scheme]());
}
