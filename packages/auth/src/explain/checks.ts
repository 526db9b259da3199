import type { LaneClass } from '../outcome-report.ts';
import type { RefusalReason } from '../refusal-reason.ts';

/** A check of a lane, with the reasons for which it refuses. */
export interface Check {
  readonly name: string;
  readonly reasons: readonly RefusalReason[];
  /** The finding of the passed check, where the request tells no more. */
  readonly passed?: string;
}

/** The checks before any lane decides. */
export const HEADER_CHECKS: readonly Check[] = [{ name: 'header', reasons: ['absent', 'malformed'] }];

const SENDER: Check = {
  name: 'sender',
  reasons: ['sender', 'proof', 'proof-time', 'proof-nonce', 'proof-used', 'replay-store', 'replay-store-full'],
};
const TIMES: Check = { name: 'times', reasons: ['claims', 'expired', 'time', 'lifetime'] };
const TYPE: Check = { name: 'type', reasons: ['token-type'] };
const SIGNATURE: Check = { name: 'signature', reasons: ['signature'], passed: 'valid' };
const AUDIENCE: Check = { name: 'audience', reasons: ['audience'] };
const STATUS: Check = {
  name: 'status',
  reasons: ['inactive', 'suspended', 'status-list'],
  passed: 'valid in the list of the issuer, or not looked up',
};

/** The checks of each lane, in the order in which the lane makes them. */
export const LANE_CHECKS: Readonly<Record<LaneClass, readonly Check[]>> = {
  none: [{ name: 'lane', reasons: ['unknown'] }],
  other: [{ name: 'lane', reasons: ['unknown'] }],
  'api-key': [
    { name: 'key', reasons: ['unknown', 'key-store', 'record'] },
    { name: 'revocation', reasons: ['revoked'], passed: 'not revoked' },
    { name: 'expiry', reasons: ['expired'], passed: 'not expired' },
  ],
  'bearer-token': [
    TYPE,
    { name: 'signing key', reasons: ['signing-key', 'issuer'] },
    SIGNATURE,
    AUDIENCE,
    TIMES,
    SENDER,
    STATUS,
    { name: 'account', reasons: ['revoked', 'directory'], passed: 'not closed' },
    { name: 'grants', reasons: ['grants'] },
  ],
  introspection: [
    { name: 'answer', reasons: ['issuer'], passed: 'the issuer answered' },
    { name: 'activity', reasons: ['inactive'], passed: 'the issuer says that the token is active' },
    { name: 'issuer', reasons: ['signing-key'], passed: 'iss is the configured one, or absent' },
    { name: 'type', reasons: ['token-type'], passed: 'an access token' },
    { name: 'audience', reasons: ['audience'], passed: 'names this host' },
    { name: 'times', reasons: ['claims', 'expired', 'time', 'lifetime'], passed: 'valid now' },
    SENDER,
    // A token that its list has as revoked is told as not active, like one that the answer tells of.
    { ...STATUS, reasons: ['suspended', 'status-list'] },
    { name: 'account', reasons: ['revoked', 'directory'], passed: 'not closed' },
    { name: 'grants', reasons: ['grants'] },
  ],
  workload: [
    TYPE,
    { name: 'trust', reasons: ['identity', 'signing-key', 'issuer'] },
    SIGNATURE,
    TIMES,
    SENDER,
    AUDIENCE,
    STATUS,
    { name: 'binding', reasons: ['unbound', 'directory'] },
    { name: 'delegation', reasons: ['delegation'], passed: 'none, or valid' },
  ],
};

/** The advice for each reason, to the operator of the host. */
export const REMEDIES: Readonly<Record<RefusalReason, string>> = {
  absent: 'Send the credential in the header Authorization.',
  malformed: 'Look for a proxy or a client that repeats or rewrites the header Authorization.',
  unknown: 'Compare the credential with the keys and issuers of the configuration.',
  record: 'Mend the stored record of the key.',
  expired: 'Issue a new credential.',
  revoked: 'Issue a new credential, if the caller may have one.',
  inactive: 'Look for the token at the issuer: it has expired, was revoked, or is of another environment.',
  suspended: 'Look for the token at the issuer: its status list has it as suspended.',
  'token-type':
    'Let the issuer sign access tokens with an accepted alg and typ, or accept theirs in the configuration.',
  'signing-key':
    'Compare kid and alg with the key set of the issuer. After a change of keys, wait until it is fetched again.',
  signature: 'Check that the token was not changed, and that the key set is of the environment that issued it.',
  audience: 'Let the issuer name this host in aud, or correct the audience in the configuration.',
  claims: 'Let the issuer add the claim.',
  time: 'Compare the clocks of the issuer and of this host with a time server. Pass --at for an old capture.',
  lifetime: 'Shorten the tokens at the issuer, or raise maxLifetimeSeconds.',
  sender: 'Send the token as it is bound: with DPoP proof, or over the connection with its certificate.',
  proof: 'Correct the proof. Its htu is compared with the origin in the configuration, not with the header Host.',
  'proof-time': 'Compare the clock of the client with a time server. Pass --at for an old capture.',
  'proof-nonce': 'Repeat the request with the nonce of the header DPoP-Nonce.',
  'proof-used': 'Make a new proof for each request, and for each repetition.',
  grants: 'Compare the claims of the token with the claims and tenants of the configuration.',
  identity: 'Compare the identity with the schemes, issuers and trust domains of the configuration.',
  unbound: 'Add a binding of its issuer and subject, in the tenant of the caller.',
  delegation: 'Compare the delegation proof with the rules of the configuration.',
  scope: 'Grant the scope to the credential, or call with another one.',
  'sign-in': 'Let the person sign in again, as the challenge says.',
  'rate-limit': 'Wait, or raise the limit of the credential.',
  budget: 'Wait, and look for the client that sends so many requests.',
  'key-store': 'Look at the store of the keys.',
  issuer:
    'Check that the issuer can be reached from here: its key set with a public key, or its introspection endpoint.',
  'status-list':
    'Fetch the list that status.status_list.uri of the token names. It must be a statuslist+jwt, signed with a published key of the issuer, name that URI in sub, not have expired, and have the index.',
  directory: 'Look at the directory of accounts or workloads.',
  'replay-store': 'Look at the store of used proofs.',
  'replay-store-full': 'Raise the capacity of the store of used proofs, or limit its largest caller.',
  internal: 'Read the cause.',
};
