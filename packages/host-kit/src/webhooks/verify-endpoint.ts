import { mintId } from '@svc/versioning/ids';
import { signStandard, VERIFICATION_TYPE } from '@svc/webhook-verify/standard-webhooks';
import { HostError } from '../errors.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Random } from '../ports/random.ts';
import type { Transport, TransportVerdict } from '../ports/transport.ts';

/** Asks endpoints whether they want the deliveries that somebody is about to subscribe them to. */
export interface EndpointVerifier {
  /**
   * Posts one signed challenge, and resolves when it comes back.
   *
   * @throws {HostError} `webhook_endpoint_unverified`, which does not say why; `service_unavailable` when too many are under way
   */
  verify(endpoint: Endpoint): Promise<void>;
  /** Ends what is under way, and verifies nothing more. */
  stop(): void;
}

export interface Endpoint {
  readonly url: string;
  /** `whsec_…`, which signs the challenge. */
  readonly secret: string;
  readonly tenant: string;
}

export interface EndpointVerifierOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly userAgent: string;
}

/**
 * Whoever registers a URL learns from a verification whether its endpoint repeats a challenge, and nothing else: what is denied,
 * does not resolve, does not answer or answers something else looks the same, and a refusal that comes at once is held back, so
 * that time does not tell either what the host's own resolver knows.
 */
export function endpointVerifier(options: EndpointVerifierOptions): EndpointVerifier {
  const { transport, clock, random, log, userAgent } = options;
  const stopping = new AbortController();
  const underWay = new Map<string, number>();

  return {
    async verify(endpoint) {
      const leave = enter(endpoint.tenant);
      try {
        const startedAt = clock.now();
        if (await challenge(endpoint)) return;
        await until(startedAt + SOONEST_REFUSAL_MS);
        throw stopping.signal.aborted ? unavailable('The host is stopping.') : unverified();
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
    log({ level: verified ? 'info' : 'warn', event: 'webhook.verification', tenant, verified, ...outcomeOf(verdict) });
    return verified;
  }

  function enter(tenant: string): () => void {
    const own = underWay.get(tenant) ?? 0;
    const all = [...underWay.values()].reduce((sum, count) => sum + count, 0);
    if (stopping.signal.aborted) throw unavailable('The host is stopping.');
    if (own >= MOST_OF_ONE_TENANT || all >= MOST) throw unavailable('Too many endpoints are being verified just now.');
    underWay.set(tenant, own + 1);
    return () => {
      const left = (underWay.get(tenant) ?? 1) - 1;
      if (left === 0) underWay.delete(tenant);
      else underWay.set(tenant, left);
    };
  }

  function until(time: number): Promise<void> {
    return new Promise((resolve) => {
      if (stopping.signal.aborted) return resolve();
      const cancel = clock.at(time, () => {
        stopping.signal.removeEventListener('abort', end);
        resolve();
      });
      const end = () => {
        cancel();
        resolve();
      };
      stopping.signal.addEventListener('abort', end, { once: true });
    });
  }
}

const CHALLENGE_BYTES = 32;
const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 4096;
const SOONEST_REFUSAL_MS = 1000;
/** A verification may take its whole time, and holds a request for as long. */
const MOST = 64;
const MOST_OF_ONE_TENANT = 4;

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
    'The endpoint did not confirm that it wants these deliveries. Within 10 seconds it must answer the signed request with a 2xx and JSON that repeats its challenge.';
  return new HostError('webhook_endpoint_unverified', message, { details: undefined });
}

function unavailable(why: string): HostError {
  const headers = { 'retry-after': '5' };
  return new HostError('service_unavailable', `${why} Try again.`, { details: undefined, headers });
}
