import { egressPolicy } from '@svc/egress-guard';
import { type GuardedFetch, guardedFetch } from '@svc/egress-guard/fetch';
import type { Config } from './config.ts';
import { configuredFile } from './configured-file.ts';

/**
 * Makes the fetch for metadata, keys and status lists of issuers. The operator chose the issuers, so one on this machine may be
 * called. URLs in their metadata are still guarded.
 */
export function identityFetch(config: Config): GuardedFetch {
  const { denyCidrs, allowCidrs, caFile } = config.egress;
  const { oidc, oauth2, introspection, workloadIdentity: workloads } = config;
  const entries = [...(oidc?.issuers ?? []), ...(oauth2?.issuers ?? []), ...(workloads?.issuers ?? [])];
  const listed = [
    ...entries,
    ...(workloads?.trustDomains ?? []),
    ...(introspection === undefined ? [] : [introspection]),
  ];
  const lists = listed.flatMap(({ statusLists }) => statusLists?.uris ?? []);
  const urls = [...entries.map(({ issuer }) => issuer), ...lists, introspection?.endpoint ?? ''];
  const allowLoopback = urls.some((url) => url.startsWith('http://'));
  const ca = caFile === null ? [] : [configuredFile('egress.caFile', caFile)];
  return guardedFetch({ policy: egressPolicy({ allowLoopback, denyCidrs, allowCidrs, ca }) });
}
