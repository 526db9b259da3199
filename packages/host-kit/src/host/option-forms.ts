import { isScope as isName } from '@svc/auth';
import { A_RATE_LIMITER, A_STORE, type Demand, functionThat, hasFunctions, memberOf } from '../known-options.ts';
import { isWorkflowFunctions, takenName } from '../ports/workflow-functions.ts';
import { numberForms } from './number-forms.ts';

/** The forms of the required options of `createHost`, and of the optional ones whose mistakes show late. */
export const HOST_OPTION_FORMS: Readonly<Record<string, Demand>> = {
  store: A_STORE,
  authenticate: {
    form: 'a list of lanes',
    fits: (value) => Array.isArray(value) && value.every(isLane),
    remedy: "Pass one such as [apiKeys({ [key]: { tenant: 'acme', scopes: ['runs:*'] } })].",
  },
  engine: {
    form: 'a function or an object',
    fits: (value) => typeof value === 'function' || (typeof value === 'object' && value !== null && !('then' in value)),
    remedy: 'Pass stepsEngine({ workflows }), or { greet: async ({ inputs }) => outputs }.',
  },
  secretKey: {
    form: '32 bytes, their text, or { current, former }',
    fits: (value) => isKey(value) || isKeys(value),
    remedy: "Pass 32 random bytes that stay the same: secretKeyFile('svc.db-secret-key') of @svc/host-kit/node.",
  },
  egress: {
    form: 'a policy',
    fits: isEgressPolicy,
    remedy: 'Pass egressPolicy({ … }) of @svc/egress-guard, not its options.',
    isOptional: true,
  },
  'protocol.versions': {
    form: 'a list of versions',
    fits: isTexts,
    remedy: "Pass texts such as ['1.1', '2.0'].",
    isOptional: true,
  },
  'http.rateLimit': A_RATE_LIMITER,
  'http.contentEncodings': {
    form: 'a list of codings',
    fits: isTexts,
    remedy: "Pass some of ['zstd', 'br', 'gzip'], or [] for none.",
    isOptional: true,
  },
  'authorization.hasWorkspace': functionThat(
    "Pass one such as (tenant, workspace) => workspace === 'main', or leave it out.",
    true,
  ),
  'authorization.ownScopes': {
    form: 'a list of scopes',
    fits: (value) => Array.isArray(value) && value.every(isScope),
    remedy: "Pass scopes without wildcards: ['orders:read'].",
    isOptional: true,
  },
  'authorization.roles': {
    form: 'an authorizer',
    fits: (value) => hasFunctions(value, 'authorize'),
    remedy: 'Pass roleAuthorizer({ catalog, directory }) of @svc/auth.',
    isOptional: true,
  },
  'authorization.stepUp': {
    form: 'a list of rules',
    fits: Array.isArray,
    remedy: "Pass some such as { scopes: ['keys:*'], stepUp: stepUp({ maxAgeSeconds: 300 }) }.",
    isOptional: true,
  },
  'authorization.approvers': {
    form: 'a directory',
    fits: (value) => hasFunctions(value, 'groupsOf') || hasFunctions(value, 'rolesOf'),
    remedy: 'Pass an object with groupsOf, rolesOf or both.',
    isOptional: true,
  },
  'features.apiKeys': {
    form: 'stored keys',
    fits: (value) => hasFunctions(value, 'candidates', 'begin', 'end'),
    remedy: 'Pass storedKeys({ store }).',
    isOptional: true,
  },
  'features.access': {
    form: 'stored access',
    fits: (value) => hasFunctions(value, 'isDenied', 'begin', 'end'),
    remedy: 'Pass storedAccess({ store }).',
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
  'ports.log': functionThat('Pass one that writes a record: (record) => console.error(JSON.stringify(record)).', true),
  'ports.transport': functionThat('Leave it out for the guarded POST.', true),
  'ports.fetch': {
    form: 'a guarded fetch',
    fits: (value) => typeof value === 'function' && hasFunctions(value, 'close'),
    remedy: 'Pass guardedFetch({ policy }) of @svc/egress-guard/fetch, or leave it out.',
    isOptional: true,
  },
  'ports.random': functionThat('Leave it out for the generator of the operating system.', true),
};

/** Returns the forms of the members of an engine. Functions have none. */
export function engineForms(engine: unknown): Readonly<Record<string, Demand>> {
  if (typeof engine === 'function' || isWorkflowFunctions(engine)) return {};
  const taken = takenName(engine);
  const why =
    taken === undefined ? '' : ` The name ${taken} is read as a member of an engine, and not as a workflow id.`;
  return { 'engine.execute': functionThat(`${EXECUTE}${why}`), ...ENGINE_FORMS };
}

const EXECUTE =
  "Pass one that resolves with the end of the run, { status: 'completed', outputs }, or functions by workflow id in place of an engine.";

const ENGINE_FORMS: Readonly<Record<string, Demand>> = {
  'engine.version': {
    form: 'a whole number',
    fits: Number.isSafeInteger,
    remedy: 'Leave it out for 1, and raise it when recorded runs could go on differently.',
    isOptional: true,
  },
  'engine.accepts': functionThat('Pass one that returns true for each run that may be created, or leave it out.', true),
  // Otherwise the engine would accept the runs that its author wants to be refused.
  'engine.refuse': {
    form: 'renamed',
    fits: (value) => value === undefined,
    remedy: 'Name it accepts, and return true, false, or { field, problem }.',
    isOptional: true,
  },
};

function isEgressPolicy(value: unknown): boolean {
  return ['deny', 'allow', 'denySuffixes', 'ca'].every((name) => Array.isArray(memberOf(value, name)));
}

/** Not `instanceof`: a test runner may have a realm of its own. */
function isKey(value: unknown): boolean {
  return typeof value === 'string' || ArrayBuffer.isView(value);
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string');
}

function isKeys(value: unknown): boolean {
  const former = memberOf(value, 'former');
  return isKey(memberOf(value, 'current')) && Array.isArray(former) && former.every(isKey);
}

function isScope(value: unknown): boolean {
  return typeof value === 'string' && isName(value);
}

function isLane(value: unknown): boolean {
  return hasFunctions(value, 'authenticate');
}
