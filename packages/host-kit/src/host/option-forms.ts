import { isScope as isName } from '@svc/auth';
import { A_STORE, type Demand, functionThat, hasFunctions } from '../known-options.ts';
import { numberForms } from './number-forms.ts';

/**
 * Returns the forms of the options of `authentication` that are there. A document of discovery with a gap in it would fail at
 * its first reader.
 */
export function authenticationForms(authentication: unknown): Readonly<Record<string, Demand>> {
  const given = Object.entries(AUTHENTICATION_FORMS).filter(([name]) => hasMember(authentication, name));
  return Object.fromEntries(
    given.flatMap(([name, forms]) =>
      Object.entries(forms).map(([option, demand]) => [`authentication.${name}.${option}`, demand]),
    ),
  );
}

function hasMember(value: unknown, name: string): boolean {
  return typeof value === 'object' && value !== null && Reflect.get(value, name) !== undefined;
}

const ISSUERS: Demand = {
  form: 'a list of URLs',
  fits: (value) => Array.isArray(value) && value.length > 0,
  remedy: 'Pass the issuers of bearerLane.',
};
const AUDIENCE: Demand = {
  form: 'a text',
  fits: (value) => typeof value === 'string' && value !== '',
  remedy: 'Pass the audience of bearerLane: the aud that a token must contain.',
};
const LIFETIME: Demand = {
  form: 'a whole number of seconds',
  fits: (value) => typeof value === 'number' && Number.isSafeInteger(value) && value > 0,
  remedy: 'Pass the maxLifetimeSeconds of bearerLane, which is 86400 by default.',
};
const AUTHENTICATION_FORMS: Readonly<Record<string, Readonly<Record<string, Demand>>>> = {
  oidc: { issuers: ISSUERS, audience: AUDIENCE, lifetime: LIFETIME },
  oauth2: {
    issuers: ISSUERS,
    audience: AUDIENCE,
    algorithms: {
      form: 'a list of names',
      fits: (value) => Array.isArray(value) && value.length > 0,
      remedy: "Pass the algorithms of bearerLane, such as ['ES256'].",
    },
    lifetime: LIFETIME,
  },
};

/** The forms of the required options of `createHost`, and of the optional ones whose mistakes show late. */
export const HOST_OPTION_FORMS: Readonly<Record<string, Demand>> = {
  store: A_STORE,
  authenticate: {
    form: 'a list of lanes',
    // An empty one is refused by the authenticator.
    fits: (value) => Array.isArray(value) && value.every(isLane),
    remedy: 'Pass one such as [apiKeyLane({ keys })].',
  },
  engine: {
    form: 'an object',
    fits: (value) => typeof value === 'object' && value !== null && !('then' in value),
    remedy: 'Pass stepsEngine({ workflows }), or an object with version, refuse and execute.',
  },
  'engine.version': {
    form: 'a whole number',
    fits: Number.isSafeInteger,
    remedy: 'Pass 1, and raise it when recorded runs could go on differently.',
  },
  'engine.refuse': functionThat('Pass one that returns undefined for each run that may be created.'),
  'engine.execute': functionThat("Pass one that resolves with the end of the run: { status: 'completed', outputs }."),
  secretKey: {
    form: '32 bytes',
    // Not `instanceof`: a test runner may have a realm of its own.
    fits: ArrayBuffer.isView,
    remedy: "Pass 32 random bytes that stay the same: secretKeyFile('svc.db-secret-key') of @svc/host-kit/node.",
  },
  formerSecretKeys: {
    form: 'a list of keys',
    fits: (value) => Array.isArray(value) && value.every(ArrayBuffer.isView),
    remedy: 'Pass the former values of secretKey, each of 32 bytes.',
    isOptional: true,
  },
  hasWorkspace: functionThat("Pass one such as (tenant, workspace) => workspace === 'main'."),
  ownScopes: {
    form: 'a list of scopes',
    fits: (value) => Array.isArray(value) && value.every(isScope),
    remedy: "Pass scopes without wildcards: ['orders:read'].",
    isOptional: true,
  },
  ...numberForms(),
  'webhooks.retryPolicy.backoff': {
    form: 'none, fixed or exponential',
    fits: (value) => value === 'none' || value === 'fixed' || value === 'exponential',
    remedy: 'Leave it out for exponential.',
    isOptional: true,
  },
  mounts: {
    form: 'a list',
    fits: Array.isArray,
    remedy: 'Pass the results of a2a, mcp and chat.',
    isOptional: true,
  },
  log: functionThat('Pass one that writes a record: (record) => console.error(JSON.stringify(record)).', true),
  random: functionThat('Leave it out for the generator of the operating system.', true),
};

function isScope(value: unknown): boolean {
  return typeof value === 'string' && isName(value);
}

function isLane(value: unknown): boolean {
  return hasFunctions(value, 'authenticate');
}
