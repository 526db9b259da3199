import { mintId } from '@svc/versioning/ids';
import { signStandard, VERIFICATION_TYPE } from '@svc/webhook-verify/standard-webhooks';
import { HostError } from '../errors.ts';
import { sleep } from '../ports/clock.ts';
import type { HostPorts } from '../ports/host-ports.ts';
import type { Transport, TransportVerdict } from '../ports/transport.ts';
import { originOf } from './attempt-result.ts';
import { TenantSlots, unavailable } from './slots.ts';

/** Asks an endpoint whether it wants the deliveries that a caller is about to subscribe it to. */
export interface EndpointVerifier {
  /**
   * Posts one signed challenge. Resolves when the endpoint repeats it.
   *
   * @throws {HostError} `webhook_endpoint_unverified`, which does not say why; `service_unavailable` when too many
   *   verifications are under way, or the host stops
   */
  verify(endpoint: Endpoint): Promise<void>;
  /** Ends the verifications under way, and refuses new ones. */
  stop(): void;
}

export interface Endpoint {
  readonly url: string;
  /** The secret that signs the challenge: `whsec_…`. */
  readonly secret: string;
  readonly tenant: string;
}

export interface EndpointVerifierOptions extends Pick<HostPorts, 'clock' | 'random' | 'log'> {
  readonly transport: Transport;
  /** The `User-Agent` header. */
  readonly userAgent: string;
}

/**
 * Tells a caller one bit: the endpoint repeats a challenge, or not. A URL that is denied, does not resolve, does not
 * answer or answers something else gives the same error, 1 s after the request at the earliest. An earlier refusal
 * would tell apart the URLs that the host's own resolver or policy rejects.
 */
export function endpointVerifier(options: EndpointVerifierOptions): EndpointVerifier {
  const { transport, clock, random, log, userAgent } = options;
  const stopping = new AbortController();
  const slots = new TenantSlots({ total: 64, perTenant: 4 }, 'Too many endpoints are being verified.');

  return {
    async verify(endpoint) {
      if (stopping.signal.aborted) throw stopped();
      const leave = slots.enter(endpoint.tenant);
      try {
        const startedAt = clock.monotonic();
        if (await challenge(endpoint)) return;
        await sleep(clock, startedAt + SOONEST_REFUSAL_MS - clock.monotonic(), stopping.signal).catch(() => {});
        throw stopping.signal.aborted ? stopped() : unverified();
      } finally {
        leave();
      }
    },
    stop: () => stopping.abort(),
  };

  async function challenge({ url, secret, tenant }: Endpoint): Promise<boolean> {
    const text = Buffer.from(random(CHALLENGE_BYTES)).toString('base64url');
    const body = new TextEncoder().encode(JSON.stringify({ type: VERIFICATION_TYPE, challenge: text }));
    const timestamp = Math.floor(clock.now() / 1000);
    const signature = signStandard({ body, secret, id: mintId('vrf', clock.now, random), timestamp });
    const verdict = await transport({
      url,
      headers: { 'content-type': 'application/json', 'user-agent': userAgent, ...signature },
      body,
      timeoutMs: TIMEOUT_MS,
      signal: stopping.signal,
      keepBodyBytes: MAX_ANSWER_BYTES,
      once: true,
    });
    const verified = repeats(verdict, text);
    const of = { tenant, destination: originOf(url), verified };
    log({ level: verified ? 'info' : 'warn', event: 'webhook.verification', ...of, ...outcomeOf(verdict) });
    return verified;
  }
}

const CHALLENGE_BYTES = 32;
const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 4096;
const SOONEST_REFUSAL_MS = 1000;

function repeats(verdict: TransportVerdict, challenge: string): boolean {
  if (verdict.kind !== 'answered' || verdict.status < 200 || verdict.status > 299) return false;
  try {
    const answer: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(verdict.body));
    return typeof answer === 'object' && answer !== null && 'challenge' in answer && answer.challenge === challenge;
  } catch {
    return false;
  }
}

function outcomeOf(verdict: TransportVerdict) {
  return verdict.kind === 'answered' ? { status: verdict.status } : { outcome: verdict.kind, reason: verdict.reason };
}

function unverified(): HostError {
  const message =
    'The endpoint did not confirm that it wants these deliveries. ' +
    'Within 10 seconds it must answer the signed request with a 2xx and JSON that repeats its challenge.';
  return new HostError('webhook_endpoint_unverified', message, { details: undefined });
}

function stopped(): HostError {
  return unavailable('The host is stopping.');
}
