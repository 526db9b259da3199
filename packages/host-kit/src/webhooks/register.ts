import { type Principal, reachesWorkspace } from '@svc/auth';
import { checkUrl, type EgressPolicy } from '@svc/egress-guard';
import type { Major } from '@svc/versioning';
import { mintId } from '@svc/versioning/ids';
import { secretFingerprint } from '@svc/webhook-verify';
import type { ChangeServices } from '../audit/change-services.ts';
import { factAbout } from '../audit/fact.ts';
import { HostError } from '../errors.ts';
import { type Save, saveNothing } from '../ports/idempotency.ts';
import type { Random } from '../ports/random.ts';
import type { SignatureAlgorithm, Subscription } from '../ports/subscriptions.ts';
import type { SecretBox } from '../sealing/secret-box.ts';
import { CLOSED } from './circuit.ts';
import type { EndpointVerifier } from './verify-endpoint.ts';

/** What a subscriber asks for, whichever major it asked in. `events` are in the stored vocabulary. */
export interface Registration {
  readonly url: string;
  readonly events: readonly string[];
  readonly tags: readonly string[];
  /** A secret that the subscriber brings; absent: the host mints one. */
  readonly secret: string | undefined;
  /** With `v1` among them. `standard-webhooks-1` needs a secret in its own form. */
  readonly signatureAlgorithms: readonly SignatureAlgorithm[];
  /** One workspace to hear of; absent: the caller's whole scope. */
  readonly workspace: string | undefined;
}

export interface RegisterOptions extends ChangeServices {
  readonly random: Random;
  readonly egress: EgressPolicy;
  readonly secrets: SecretBox;
  /** Asked before a subscription by Standard Webhooks is stored. */
  readonly endpoints: Pick<EndpointVerifier, 'verify'>;
  /** Whether a workspace of that name exists in the tenant. */
  readonly hasWorkspace: (tenant: string, workspace: string) => boolean;
  /** Whether a subscription registered under a major is durable. */
  readonly durable: Readonly<Record<Major, boolean>>;
}

/** A registered subscription and, this once, the secret it was given. */
export interface Registered {
  readonly subscription: Subscription;
  readonly secret: string;
  readonly isSecretBrought: boolean;
}

/**
 * Registers a subscription. Its host name is judged as it stands; nothing is resolved or called, but for the endpoint of one by
 * Standard Webhooks, which has to say that it wants the deliveries.
 *
 * @param save is called in the transaction of the change
 * @throws {HostError} `forbidden` when the workspace is not the caller's, `webhook_url_rejected` when the URL breaks the egress
 * rules, `webhook_endpoint_unverified`, and `service_unavailable` when too many endpoints are being verified
 * @see Interface: Webhook URL rules at registration
 */
export async function register(
  options: RegisterOptions,
  principal: Principal,
  major: Major,
  registration: Registration,
  save: Save<Registered> = saveNothing,
): Promise<Registered> {
  const { store, clock, random, egress, secrets, endpoints, recordAudit } = options;
  const workspaces = scopeOf(options, principal, registration.workspace);
  const checked = checkUrl(registration.url, egress);
  if (!checked.ok) throw rejected(checked.reason);

  const { signatureAlgorithms } = registration;
  const { tenant } = principal.tenancy;
  const secret = registration.secret ?? Buffer.from(random(SECRET_BYTES)).toString('hex');
  if (signatureAlgorithms.includes('standard-webhooks-1')) {
    await endpoints.verify({ url: checked.url.href, secret, tenant });
  }

  const webhookId = mintId('whk', clock.now, random);
  const subscription: Subscription = {
    webhookId,
    tenant,
    workspaces,
    mode: principal.tenancy.mode,
    major,
    url: checked.url.href,
    events: registration.events,
    tags: registration.tags,
    durable: options.durable[major],
    status: 'active',
    circuit: CLOSED,
    failures: [],
    signatureAlgorithms,
    sealedSecret: secrets.seal(secret, webhookId),
    secretFingerprint: secretFingerprint(secret),
    previousSecret: undefined,
    createdAt: clock.now(),
  };
  const registered = { subscription, secret, isSecretBrought: registration.secret !== undefined };
  const target = `${subscription.tenant}/${webhookId}`;
  const fact = factAbout(principal, { action: 'webhook.register', target, at: subscription.createdAt });
  await store.transaction(async (transaction) => {
    await store.subscriptions.insert(subscription, transaction);
    await recordAudit(fact, transaction);
    await save(registered, transaction);
  });
  return registered;
}

/** Refuses a workspace that the caller is no member of; the tenant's own name is not one. */
export function requireMembership(
  hasWorkspace: RegisterOptions['hasWorkspace'],
  { tenancy }: Principal,
  workspace: string,
): void {
  if (reachesWorkspace(tenancy, workspace) && hasWorkspace(tenancy.tenant, workspace)) return;
  throw new HostError('forbidden', 'tenantId names no workspace that this credential is a member of.', {
    details: undefined,
  });
}

const SECRET_BYTES = 32;

function scopeOf(
  options: RegisterOptions,
  principal: Principal,
  workspace: string | undefined,
): 'all' | readonly string[] {
  if (workspace === undefined) return principal.tenancy.workspaces;
  requireMembership(options.hasWorkspace, principal, workspace);
  return [workspace];
}

function rejected(reason: string): HostError {
  return new HostError('webhook_url_rejected', `url is refused: ${reason}. Register a public https:// URL.`, {
    details: { reason },
  });
}
