import type { Principal } from '@svc/auth';
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
import { requireMembership } from '../runs/membership.ts';
import type { SecretBox } from '../sealing/secret-box.ts';
import { CLOSED } from './circuit.ts';
import type { EndpointVerifier } from './verify-endpoint.ts';

/** A request for a subscription, the same for both majors. `events` are in the stored vocabulary. */
export interface Registration {
  readonly url: string;
  readonly events: readonly string[];
  readonly tags: readonly string[];
  /** The subscriber's own secret. Undefined: the host generates one. */
  readonly secret: string | undefined;
  /** Includes `v1`. `standard-webhooks-1` requires `secret` in its form `whsec_…`. */
  readonly signatureAlgorithms: readonly SignatureAlgorithm[];
  /** The one workspace of the subscription. Undefined: all workspaces that the caller reaches. */
  readonly workspace: string | undefined;
}

export interface RegisterOptions extends ChangeServices {
  readonly random: Random;
  readonly egress: EgressPolicy;
  readonly secrets: SecretBox;
  /** Verifies the endpoint of a Standard Webhooks subscription before it is stored. */
  readonly endpoints: Pick<EndpointVerifier, 'verify'>;
  /** Returns true when the tenant has a workspace of that name. */
  readonly hasWorkspace: (tenant: string, workspace: string) => boolean;
  /** Whether subscriptions of a major are durable. */
  readonly durable: Readonly<Record<Major, boolean>>;
}

/** A new subscription with its secret, which is not readable later. */
export interface Registered {
  readonly subscription: Subscription;
  readonly secret: string;
  /** True: the secret is the subscriber's own. */
  readonly isSecretBrought: boolean;
}

/**
 * Registers a subscription. Checks its URL against the egress rules without resolving the host name. Sends nothing to
 * it, except for Standard Webhooks: there the endpoint must confirm a challenge first.
 *
 * @param save is called in the transaction of the change
 * @throws {HostError} `forbidden` when the caller is not a member of the workspace, `webhook_url_rejected` when the URL
 * breaks the egress rules, `webhook_endpoint_unverified`, `service_unavailable` when too many endpoints are being
 * verified
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
