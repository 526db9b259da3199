import type { AcceptedCredentials, Lane } from '@svc/auth';

/** The credentials that the lanes of a host accept, by their kinds. */
export interface AdvertisedAuthentication {
  readonly apiKeys: readonly Accepted<'api-key'>[];
  /** Signed tokens of people and of machines. */
  readonly tokens: { readonly [Profile in 'user' | 'client']: readonly Accepted<'signed-token'>[] };
  readonly opaqueTokens: readonly Accepted<'opaque-token'>[];
  readonly workloads: readonly Accepted<'workload'>[];
  /**
   * Undefined: no token may be bound to a key. `required`: every token of a person or a machine must be bound to its sender, and
   * each lane of theirs takes a key.
   */
  readonly dpop: { readonly algorithms: readonly string[]; readonly required: boolean } | undefined;
}

/** The credentials of one kind. */
export type Accepted<Kind extends AcceptedCredentials['kind']> = Extract<AcceptedCredentials, { readonly kind: Kind }>;

/**
 * Gathers what the lanes of a host advertise.
 *
 * @throws {TypeError} when there is no lane, when none says what it accepts, since the document of major 2 names at least one,
 * and when one says it in another form
 */
export function advertisedBy(lanes: readonly Lane[]): AdvertisedAuthentication {
  const accepted = lanes.flatMap(({ name, advertises = [] }) => checked(name, advertises));
  if (lanes.length === 0) throw new TypeError('createHost: authenticate must not be empty. Pass at least one lane.');
  if (accepted.length === 0)
    throw new TypeError(
      "createHost: no lane of authenticate has advertises, so discovery has none to name. Add it to yours: advertises: [{ kind: 'api-key', issuer: 'urn:acme:keys' }].",
    );
  const signed = accepted.filter((each) => each.kind === 'signed-token');
  const opaqueTokens = accepted.filter((each) => each.kind === 'opaque-token');
  const workloads = accepted.filter((each) => each.kind === 'workload');
  const bindable = [...signed, ...opaqueTokens, ...workloads].flatMap(({ dpopAlgorithms }) => dpopAlgorithms ?? []);
  const issued = [...signed, ...opaqueTokens];
  return {
    apiKeys: accepted.filter((each) => each.kind === 'api-key'),
    tokens: {
      user: signed.filter(({ profile }) => profile === 'user'),
      client: signed.filter(({ profile }) => profile === 'client'),
    },
    opaqueTokens,
    workloads,
    dpop:
      bindable.length === 0
        ? undefined
        : {
            algorithms: [...new Set(bindable)],
            required:
              issued.length > 0 &&
              issued.every(
                ({ senderConstrained, dpopAlgorithms }) => senderConstrained && dpopAlgorithms !== undefined,
              ),
          },
  };
}

/** A lane may be foreign code. Other members are checked with the documents. */
function checked(lane: string, advertises: readonly AcceptedCredentials[]): readonly AcceptedCredentials[] {
  const owner = `createHost: advertises of lane ${lane}`;
  const isList: boolean = Array.isArray(advertises);
  if (!isList) throw new TypeError(`${owner} must be a list. Pass [{ kind: 'api-key', issuer: 'urn:acme:keys' }].`);
  for (const each of advertises) {
    if (!Object.hasOwn(MEMBERS, each?.kind))
      throw new TypeError(
        `${owner} has an entry of an unknown kind. Its kind is one of ${Object.keys(MEMBERS).join(', ')}.`,
      );
    const missing = MEMBERS[each.kind].find((name) => !isGiven(Reflect.get(each, name)));
    if (missing !== undefined)
      throw new TypeError(`${owner}: an entry of the kind ${each.kind} needs ${missing}. Add it.`);
  }
  return advertises;
}

function isGiven(member: unknown): boolean {
  return typeof member === 'string' ? member !== '' : Array.isArray(member);
}

const MEMBERS: { readonly [Kind in AcceptedCredentials['kind']]: readonly string[] } = {
  'api-key': ['issuer'],
  'signed-token': ['issuer', 'audiences', 'algorithms'],
  'opaque-token': ['issuer', 'audiences', 'profiles'],
  workload: ['schemes', 'trustRoots', 'senderConstraint'],
};

/** Returns every issuer of which a client can get a token, each once. */
export function tokenIssuers({ tokens, opaqueTokens }: AdvertisedAuthentication): readonly string[] {
  return [...new Set([...tokens.user, ...tokens.client, ...opaqueTokens].map(({ issuer }) => issuer))];
}
