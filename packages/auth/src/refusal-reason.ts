/**
 * The closed set of classes of causes for which a caller is refused, for logs and metrics. A reason is finer than the
 * code, which the caller gets.
 *
 * | Reason | The caller is refused because |
 * |---|---|
 * | `absent`, `malformed`, `unknown` | it sent no credential, a malformed `Authorization`, or a credential that no lane knows |
 * | `expired`, `revoked`, `time` | the credential has expired, was revoked, or is dated in the future |
 * | `inactive` | its issuer says that the token is not active |
 * | `suspended` | the status list of its issuer has the token as suspended |
 * | `token-type`, `signing-key`, `signature`, `audience`, `claims`, `lifetime`, `grants` | of a rule for signed tokens |
 * | `sender`, `proof`, `proof-time`, `proof-nonce`, `proof-used` | its token is bound, and the binding is not proved |
 * | `identity`, `unbound`, `delegation` | of a rule for workloads |
 * | `scope`, `sign-in` | it lacks a scope, or has to sign in again |
 * | `rate-limit` | its credential is over its limit |
 * | `budget` | too many requests of its client were refused |
 * | `record` | the stored record of its key is malformed |
 * | `key-store`, `issuer`, `status-list`, `directory`, `replay-store`, `replay-store-full`, `internal` | the host could not judge it: that part failed |
 */
export type RefusalReason =
  | 'absent'
  | 'malformed'
  | 'unknown'
  | 'record'
  | 'expired'
  | 'revoked'
  | 'inactive'
  | 'suspended'
  | 'token-type'
  | 'signing-key'
  | 'signature'
  | 'audience'
  | 'claims'
  | 'time'
  | 'lifetime'
  | 'sender'
  | 'proof'
  | 'proof-time'
  | 'proof-nonce'
  | 'proof-used'
  | 'grants'
  | 'identity'
  | 'unbound'
  | 'delegation'
  | 'scope'
  | 'sign-in'
  | 'rate-limit'
  | 'budget'
  | 'key-store'
  | 'issuer'
  | 'status-list'
  | 'directory'
  | 'replay-store'
  | 'replay-store-full'
  | 'internal';

/** Every {@link RefusalReason}. */
export const REFUSAL_REASONS: readonly RefusalReason[] = [
  'absent',
  'malformed',
  'unknown',
  'record',
  'expired',
  'revoked',
  'inactive',
  'suspended',
  'token-type',
  'signing-key',
  'signature',
  'audience',
  'claims',
  'time',
  'lifetime',
  'sender',
  'proof',
  'proof-time',
  'proof-nonce',
  'proof-used',
  'grants',
  'identity',
  'unbound',
  'delegation',
  'scope',
  'sign-in',
  'rate-limit',
  'budget',
  'key-store',
  'issuer',
  'status-list',
  'directory',
  'replay-store',
  'replay-store-full',
  'internal',
];
