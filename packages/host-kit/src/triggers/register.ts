import { AuthError, type Principal } from '@svc/auth';
import type { EgressPolicy } from '@svc/egress-guard';
import type { Major } from '@svc/versioning';
import { mintId } from '@svc/versioning/ids';
import { identitiesOf } from '../access/bound-workload.ts';
import type { ChangeServices } from '../audit/change-services.ts';
import { factAbout } from '../audit/fact.ts';
import { HostError, invalid } from '../errors.ts';
import { type Save, saveNothing } from '../ports/idempotency.ts';
import type { Random } from '../ports/random.ts';
import type { StoreClock } from '../ports/store-clock.ts';
import type {
  Registrar,
  Trigger,
  TriggerMapping,
  TriggerRetryPolicy,
  TriggerRules,
  WebhookPreset,
} from '../ports/triggers.ts';
import { namesWorkspace, requireMembership } from '../runs/membership.ts';
import type { SecretBox } from '../sealing/secret-box.ts';
import type { ChangeGrants } from './change/grants.ts';
import { checkedRules } from './checked-rules.ts';
import type { QueueGrants } from './queue/grants.ts';
import { prepareBegin } from './schedule/begin.ts';
import { sealTriggerSecrets } from './secrets.ts';
import { type StandingOptions, standingOfRegistrar } from './standing.ts';

/** A request for a trigger, the same for both majors. */
export interface TriggerRegistration {
  readonly workspace: string | undefined;
  readonly description: string | undefined;
  readonly mapping: TriggerMapping;
  /** The source with its rules. */
  readonly rules: TriggerRules;
  /** The secret of the sender, or the credential for a stream. Undefined: the host generates one. */
  readonly secret: string | undefined;
  /** Undefined: the policy of the host. */
  readonly retryPolicy: TriggerRetryPolicy | undefined;
}

export interface RegisterTriggerOptions extends ChangeServices, StandingOptions {
  readonly random: Random;
  readonly secrets: SecretBox;
  /** Schedules are due by it. */
  readonly storeClock: Pick<StoreClock, 'read'>;
  /** The queues that tenants may consume. */
  readonly queues: QueueGrants;
  /** Whether the host reads messages of the source `email`. */
  readonly servesEmail: boolean;
  /** The tables that tenants may read. */
  readonly changes: ChangeGrants;
  /** The URLs that streams may have. Undefined: the host reads no streams. */
  readonly streamEgress: EgressPolicy | undefined;
  /** Returns true when the tenant has a workspace of that name. */
  readonly hasWorkspace: (tenant: string, workspace: string) => boolean;
  readonly retryPolicy: TriggerRetryPolicy;
  /** The most triggers of a tenant, in live and in test mode each. */
  readonly maxPerTenant: number;
}

/** A new trigger. Its secret is not readable later. */
export interface RegisteredTrigger {
  readonly trigger: Trigger;
  readonly secret: string;
  /** True: the secret is that of the sender. */
  readonly isSecretBrought: boolean;
}

/**
 * Registers a trigger. Its runs have the authority of the caller, which must be enough to start one now.
 *
 * @param save is called in the transaction of the change
 * @throws {HostError} `forbidden` when the caller does not reach the workspace, may start no run there, or its tenant may not
 *   consume the queue;
 *   `validation_error` when the tenant has too many triggers, a schedule is not valid or has no occurrence, the host does not serve
 *   the source, or the URL of a stream is not allowed
 */
export async function registerTrigger(
  options: RegisterTriggerOptions,
  principal: Principal,
  major: Major,
  registration: TriggerRegistration,
  save: Save<RegisteredTrigger> = saveNothing,
): Promise<RegisteredTrigger> {
  const { store, clock, random, secrets, recordAudit, maxPerTenant } = options;
  const { description, mapping } = registration;
  const { tenant, mode } = principal.tenancy;
  const workspace = workspaceOf(options, principal, registration.workspace);
  const rules = checkedRules(options, { tenant, mode }, registration.rules);
  const registrar = registrarOf(principal);
  await requireStanding(options, { registrar, ...(workspace !== undefined && { workspace }) });

  const triggerId = mintId('trg', clock.now, random);
  const begin = await prepareBegin(rules.source, () => options.storeClock.read());
  const preset = rules.source === 'webhook' ? rules.webhook.preset : 'hmac';
  const secret = registration.secret ?? mintedSecret(preset, random);
  const now = clock.now();
  const trigger: Trigger = {
    triggerId,
    tenant,
    ...(workspace !== undefined && { workspace }),
    mode,
    major,
    ...begin(triggerId, rules),
    state: 'active',
    failures: 0,
    ...(description !== undefined && { description }),
    mapping,
    retryPolicy: registration.retryPolicy ?? options.retryPolicy,
    registrar,
    ...sealTriggerSecrets(secrets, triggerId, { current: secret }),
    createdAt: now,
    updatedAt: now,
  };
  const registered = { trigger, secret, isSecretBrought: registration.secret !== undefined };
  const target = `${tenant}/${triggerId}`;
  const fact = factAbout(principal, { action: 'trigger.register', target, at: now, workspace });
  await store.transaction(async (transaction) => {
    if ((await store.triggers.count({ tenant, mode }, transaction)) >= maxPerTenant) throw tooMany(maxPerTenant);
    await store.triggers.insert(trigger, transaction);
    await save(registered, transaction);
    await recordAudit(fact, transaction);
  });
  return registered;
}

/** The default is the caller's only workspace, or the tenant for a credential of all workspaces. */
function workspaceOf(
  { hasWorkspace }: RegisterTriggerOptions,
  principal: Principal,
  asked: string | undefined,
): string | undefined {
  const workspace = asked ?? onlyOf(principal);
  if (workspace !== undefined) requireMembership(hasWorkspace, principal, workspace);
  return workspace;
}

function onlyOf({ tenancy }: Principal): string | undefined {
  if (tenancy.workspaces === 'all') return undefined;
  const [only, ...others] = tenancy.workspaces;
  if (only !== undefined && others.length === 0) return only;
  throw invalid({ field: 'tenantId', problem: `is required. ${namesWorkspace(tenancy)}` });
}

/** An anonymous caller has no authority that could be judged later. */
function registrarOf(principal: Principal): Registrar {
  const { id, kind, credentialId, lane, binding, tenancy, scopes, subject, tokens = [], workload } = principal;
  if (kind === 'anonymous') throw forbidden('An anonymous caller cannot register a trigger. Use a credential.');
  const identities = identitiesOf(principal).map(({ named: { scheme, ...name }, principal: bound }) => ({
    ...{ ...name, principal: bound },
    ...(scheme !== undefined && { scheme }),
  }));
  return {
    ...{ id, kind, credentialId, lane, binding, tenancy, scopes, subject },
    principals: [id, ...(workload === undefined ? [] : [workload.actor.principalId])],
    tokens: tokens.map(({ issuer, subject: name, issuedAt }) => ({
      issuer,
      ...(name !== undefined && { subject: name }),
      ...(issuedAt !== undefined && { issuedAt }),
    })),
    ...(identities.length > 0 && { identities }),
  };
}

async function requireStanding(
  options: StandingOptions,
  trigger: Pick<Trigger, 'registrar' | 'workspace'>,
): Promise<void> {
  const standing = await standingOfRegistrar(options, trigger);
  if (standing.ok) return;
  const message = `A trigger starts runs under the authority of this credential, which may start none there (${standing.problem}).`;
  throw new AuthError('forbidden', message, { scopeRequired: 'runs:create' });
}

/** A new secret in the form of the sender. */
export function mintedSecret(preset: WebhookPreset, random: Random): string {
  const bytes = Buffer.from(random(32));
  return preset === 'standard-webhooks' ? `whsec_${bytes.toString('base64')}` : bytes.toString('hex');
}

function tooMany(most: number): HostError {
  return invalid({
    field: 'source',
    problem: `is the ${most + 1}th trigger of the tenant, which may have ${most}. Delete one`,
  });
}

function forbidden(message: string): HostError {
  return new HostError('forbidden', message, { details: undefined });
}
