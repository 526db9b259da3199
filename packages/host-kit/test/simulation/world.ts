import { type Chance, chance } from '@svc/tools/chance';
import { Webhook } from '@svc/webhook-verify';
import { StandardWebhook } from '@svc/webhook-verify/standard-webhooks';
import type { Clock } from '../../src/ports/clock.ts';
import type { Log } from '../../src/ports/log.ts';
import type { Run } from '../../src/ports/runs.ts';
import type { Store } from '../../src/ports/store.ts';
import { storeClock } from '../../src/ports/store-clock.ts';
import { READING_GOOD_FOR_MS, type Subscription } from '../../src/ports/subscriptions.ts';
import type { TransportRequest, TransportVerdict } from '../../src/ports/transport.ts';
import { eventLog } from '../../src/runs/event-log.ts';
import { secretBox } from '../../src/sealing/secret-box.ts';
import { memoryStore } from '../../src/stores/memory/index.ts';
import { attempt } from '../../src/webhooks/attempt.ts';
import { CLOSED } from '../../src/webhooks/circuit.ts';
import { type Dispatcher, dispatcher } from '../../src/webhooks/dispatcher.ts';
import { heldSubscriptions } from '../../src/webhooks/held.ts';
import { outbox } from '../../src/webhooks/outbox.ts';
import { rotateSecret } from '../../src/webhooks/rotate.ts';
import { attemptSigner } from '../../src/webhooks/signing.ts';
import { unregister } from '../../src/webhooks/unregister.ts';
import { faultyStore } from './faulty-store.ts';
import { type VirtualClock, virtualClock } from './virtual-clock.ts';

/** The difficulties of a world, drawn from its seed. */
export interface Weather {
  /** How many hosts share the store. */
  readonly hosts: number;
  readonly storeFaults: boolean;
  /** The longest wait before and after each call of the store, in ms. */
  readonly storeMs: number;
  readonly crashes: boolean;
  /** Hosts freeze now and then, some for longer than their claims are valid. */
  readonly stalls: boolean;
  /** The clocks of the hosts are set now and then, and differ from the beginning: by an hour or a day. */
  readonly clockSteps: boolean;
  readonly perSubscription: number;
  readonly perTenant: number;
  readonly total: number;
}

/** The deliveries of one event to one subscription. */
export interface Passage {
  readonly webhookId: string;
  readonly runId: string;
  readonly sequence: number;
  readonly durable: boolean;
  attempts: number;
  delivered: number;
}

/** By how much a clock may be set, in ms. */
const CLOCK_STEPS = [-86_400_000, -3_600_000, 3_600_000, 86_400_000] as const;

export interface Outcome {
  readonly rotations: number;
  readonly clockSteps: number;
  readonly seed: number;
  readonly weather: Weather;
  readonly violations: readonly string[];
  readonly attempts: number;
  readonly delivered: number;
  readonly crashes: number;
  /** Attempts that ended after another host had taken over the claim. */
  readonly claimsLost: number;
  readonly deadLetters: number;
  readonly virtualMs: number;
}

const START = 1_780_000_000_000;
const ROUGH_MS = 120_000;
const POLICY = { maxAttempts: 4, backoff: 'exponential', delayMs: 500, maxDelayMs: 8000 } as const;
const ATTEMPT_TIMEOUT_MS = 1000;
const CIRCUIT = { failureThreshold: 4, cooldownMs: 20_000, failureLimit: 25, failureWindowMs: 60_000 };

/**
 * Lets the dispatcher live through a world that is made of one seed: receivers that fail, hang and vanish, a store that
 * is away, a host that dies and comes back, subscriptions that come, pause and go. Then the weather clears, and
 * everything must have arrived.
 */
export async function simulate(seed: number): Promise<Outcome> {
  const luck = chance(seed);
  const total = 2 + luck.below(8);
  const weather: Weather = {
    hosts: luck.pick([1, 2]),
    storeFaults: luck.happens(0.5),
    storeMs: luck.pick([6, 600]),
    crashes: luck.happens(0.5),
    stalls: luck.happens(0.5),
    clockSteps: luck.happens(0.5),
    perSubscription: 1 + luck.below(4),
    perTenant: 1 + luck.below(total),
    total,
  };
  const clock = virtualClock(START);
  const world = new World(luck, weather, clock);
  await world.begin();
  const roughUntil = START + ROUGH_MS;
  await clock.run(roughUntil);
  await world.clear();
  // Longer than all retries, leases and cooldowns together.
  const end = roughUntil + 600_000;
  await clock.run(end);
  return { seed, weather, ...(await world.judged()), virtualMs: clock.now() - START };
}

/** The host that makes an attempt. */
interface Sender {
  /** Its attempts under way, by subscription. */
  readonly inFlight: Map<string, number>;
  readonly alive: () => boolean;
  readonly clock: Clock;
}

/** One of the processes that live in a world. */
interface Host {
  readonly dispatch: Dispatcher;
  readonly clock: Clock;
  append(run: Run): Promise<unknown>;
  freeze(until: number): void;
  /** Sets the time of the day of the machine. */
  setClock(ms: number): void;
  kill(): void;
}

class World {
  readonly #luck: Chance;
  readonly #weather: Weather;
  readonly #clock: VirtualClock;
  readonly #store: Store = memoryStore();
  readonly #secrets;
  readonly #subscriptions = new Map<string, Subscription>();
  /** Subscriptions whose unregistration was requested; `#gone` has those for which it was confirmed. */
  readonly #leaving = new Set<string>();
  readonly #gone = new Set<string>();
  readonly #paused = new Set<string>();
  readonly #runs: Run[] = [];
  readonly #passages = new Map<string, Passage>();
  /** The secrets of each subscription, newest first, and the end of each one's validity. */
  readonly #signing = new Map<string, readonly { readonly secret: string; readonly until: number }[]>();
  /** The message id of each passage, and the passage of each message id. */
  readonly #messages = new Map<string, string>();
  readonly #violations: string[] = [];
  #isRough = true;
  readonly #hosts: Host[] = [];
  /** By how much the clock of each machine is ahead of the world. It outlives its host. */
  readonly #aheadMs: number[] = [];
  #counts = { rotations: 0, clockSteps: 0, attempts: 0, delivered: 0, crashes: 0, claimsLost: 0 };

  constructor(luck: Chance, weather: Weather, clock: VirtualClock) {
    this.#luck = luck;
    this.#weather = weather;
    this.#clock = clock;
    this.#secrets = secretBox(new Uint8Array(32), luck.random);
    while (this.#hosts.length < weather.hosts) {
      this.#aheadMs.push(weather.clockSteps ? luck.pick([0, ...CLOCK_STEPS]) : 0);
      this.#hosts.push(this.#boot(this.#hosts.length));
    }
  }

  async begin(): Promise<void> {
    for (let count = 2 + this.#luck.below(4); count > 0; count--) await this.#register();
    for (let count = 3; count > 0; count--) await this.#newRun();
    for (const { dispatch } of this.#hosts) dispatch.start();
    if (this.#hosts.length > 1) this.#look();
    for (let at = 0; at < ROUGH_MS; at += 100 + this.#luck.below(4000)) {
      this.#clock.at(START + at, () => void this.#something());
    }
    if (!this.#weather.clockSteps) return;
    for (let steps = 1 + this.#luck.below(3); steps > 0; steps--) {
      this.#clock.at(START + this.#luck.below(ROUGH_MS), () => this.#setClock());
    }
  }

  /** Ends all difficulties, and resumes every paused subscription. */
  async clear(): Promise<void> {
    this.#isRough = false;
    for (const webhookId of this.#paused) await this.#move(webhookId, 'active');
    this.#paused.clear();
    for (const { dispatch } of this.#hosts) dispatch.wake();
  }

  async judged(): Promise<Omit<Outcome, 'seed' | 'weather' | 'virtualMs'>> {
    const dead = new Map<string, number>();
    for (const webhookId of this.#subscriptions.keys()) {
      const health = await this.#store.subscriptions.read(webhookId);
      for (const letter of await this.#store.deliveries.deadLetters(webhookId, { limit: 100_000, now: 0 })) {
        dead.set(`${webhookId} ${letter.eventId}`, letter.attempts);
        const isSpent = letter.attempts >= POLICY.maxAttempts;
        if (!isSpent && health?.status === 'active')
          this.#violate(`${letter.deliveryId} is dead after ${letter.attempts}`);
      }
    }
    for (const [name, passage] of this.#passages) {
      if (this.#leaving.has(passage.webhookId) || !passage.durable) continue;
      if (passage.delivered === 0 && !dead.has(name)) this.#violate(`${name} is lost`);
    }
    const left = await this.#store.deliveries.nextDueAfter(0);
    if (left !== undefined) this.#violate('something is left in the queue');
    return { violations: this.#violations, ...this.#counts, deadLetters: dead.size };
  }

  async #something(): Promise<void> {
    const what = this.#luck.next();
    if (what < 0.66) await this.#append();
    else if (what < 0.7) await this.#rotate();
    else if (what < 0.76) await this.#register();
    else if (what < 0.82) await this.#unregister();
    else if (what < 0.88) await this.#pauseOrResume();
    else if (what < 0.92) await this.#newRun();
    else if (what < 0.96 && this.#weather.stalls) this.#anyHost().freeze(this.#clock.now() + this.#luck.below(60_000));
    else if (this.#weather.crashes) this.#crash();
  }

  /** Wakes each host now and then, as hosts that share a store do. */
  #look(): void {
    this.#clock.at(this.#clock.now() + 2000, () => {
      for (const { dispatch } of this.#hosts) dispatch.wake();
      this.#look();
    });
  }

  /** A store that several hosts share has a clock of its own, which is that of the world. */
  #sharedStore(): Store {
    if (this.#weather.hosts === 1) return this.#store;
    return { ...this.#store, shared: true, time: async () => this.#clock.now() };
  }

  #setClock(): void {
    this.#counts.clockSteps++;
    const machine = this.#luck.below(this.#hosts.length);
    const ms = this.#luck.pick(CLOCK_STEPS);
    this.#aheadMs[machine] = (this.#aheadMs[machine] ?? 0) + ms;
    this.#hosts[machine]?.setClock(ms);
  }

  #anyHost(): Host {
    const host = this.#hosts[this.#luck.below(this.#hosts.length)];
    if (host === undefined) throw new Error('A world without hosts.');
    return host;
  }

  #boot(machine: number): Host {
    const clock = this.#clock.forHost(this.#aheadMs[machine]);
    const { store, cut } = faultyStore(this.#sharedStore(), this.#luck, {
      rate: () => (this.#isRough && this.#weather.storeFaults ? 0.03 : 0),
      wait: async () => {
        await new Promise<void>((resolve) =>
          this.#clock.at(this.#clock.now() + this.#luck.below(this.#weather.storeMs), resolve),
        );
        await clock.thawed();
      },
    });
    const { random } = this.#luck;
    const inFlight = new Map<string, number>();
    let alive = true;
    const log: Log = ({ settlement }) => {
      if (settlement === 'claim-lost') this.#counts.claimsLost++;
    };
    const ofStore = storeClock({ clock, store, log });
    const dispatch = dispatcher({
      queue: store.deliveries,
      attempt: attempt({
        store,
        transport: async (request) => {
          if (!alive) return new Promise(() => {});
          const verdict = await this.#receive(request, { inFlight, alive: () => alive, clock });
          await clock.thawed();
          return verdict;
        },
        sign: attemptSigner({ secrets: this.#secrets, webhookIdOf: ({ webhookId }) => webhookId, families: ['SVC'] }),
        clock,
        storeClock: ofStore,
        random,
        log,
        stateChanged: () => {},
        announce: async () => {},
        held: heldSubscriptions(),
        rules: { retryPolicy: POLICY, circuit: CIRCUIT, deadLetterRetentionMs: 30 * 86_400_000, failAfterMs: 0 },
        attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
        userAgent: 'simulation',
      }),
      clock,
      storeClock: ofStore,
      log,
      maxDelayMs: POLICY.maxDelayMs,
      concurrency: this.#weather,
      attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
    });
    const events = eventLog({
      store,
      clock,
      random,
      outbox: outbox({
        store,
        storeClock: ofStore,
        render: (run, { type, sequence, eventId }) => ({
          eventType: type,
          body: new TextEncoder().encode(JSON.stringify({ runId: run.runId, tenant: run.tenant, sequence, eventId })),
        }),
        handOver: dispatch.handOver,
      }),
      transactions: dispatch.handOver,
      appended: (event) => dispatch.handOver.appended(event),
    });
    return {
      dispatch,
      clock,
      append: (run: Run) => events.append(run.runId, { type: 'node.completed', payload: { nodeId: 'n' } }),
      freeze: clock.freeze,
      setClock: clock.set,
      kill: () => {
        alive = false;
        clock.cut();
        cut();
      },
    };
  }

  #crash(): void {
    this.#counts.crashes++;
    const index = this.#luck.below(this.#hosts.length);
    this.#hosts[index]?.kill();
    const host = this.#boot(index);
    this.#hosts[index] = host;
    host.dispatch.start();
  }

  async #register(): Promise<void> {
    const webhookId = `whk_${String(this.#subscriptions.size).padStart(4, '0')}`;
    const secret = this.#newSecret();
    this.#signing.set(webhookId, [{ secret, until: Number.POSITIVE_INFINITY }]);
    const subscription: Subscription = {
      webhookId,
      tenant: this.#luck.pick(['acme', 'globex']),
      workspaces: 'all',
      mode: 'live',
      major: 1,
      url: `https://${webhookId}.example/`,
      events: ['node.completed'],
      tags: [],
      durable: this.#luck.happens(0.6),
      status: 'active',
      circuit: CLOSED,
      failures: [],
      signatureAlgorithms: this.#luck.happens(0.5) ? ['v1'] : ['v1', 'standard-webhooks-1'],
      sealedSecret: this.#secrets.seal(secret, webhookId),
      secretFingerprint: '00000000',
      previousSecret: undefined,
      createdAt: this.#clock.now(),
    };
    this.#subscriptions.set(webhookId, subscription);
    await this.#store.transaction((transaction) => this.#store.subscriptions.insert(subscription, transaction));
  }

  #newSecret(): string {
    return `whsec_${Buffer.from(this.#luck.random(24)).toString('base64')}`;
  }

  async #rotate(): Promise<void> {
    const rotatable = [...this.#subscriptions.values()].filter(
      ({ webhookId, signatureAlgorithms }) => signatureAlgorithms.length > 1 && !this.#leaving.has(webhookId),
    );
    const subscription = rotatable[this.#luck.below(Math.max(1, rotatable.length))];
    if (subscription === undefined) return;
    const { webhookId, tenant } = subscription;
    const secret = this.#newSecret();
    const principal = { tenancy: { tenant, workspaces: 'all', mode: 'live' } };
    const overlapSeconds = 1 + this.#luck.below(20);
    const options = { store: this.#store, clock: this.#clock, secrets: this.#secrets, overlapSeconds };
    const silent = { recordAudit: async () => {}, announce: async () => {}, dispatcher: { wake() {} } };
    const rotated = await rotateSecret({ ...options, ...silent }, principal as never, webhookId, secret);
    const [newest, ...older] = this.#signing.get(webhookId) ?? [];
    if (newest === undefined) return;
    this.#counts.rotations++;
    this.#signing.set(webhookId, [
      { secret, until: Number.POSITIVE_INFINITY },
      { ...newest, until: rotated.previousSecretExpiresAt },
      ...older.map((one) => ({ ...one, until: Math.min(one.until, rotated.rotatedAt) })),
    ]);
  }

  /**
   * Checks that an attempt is signed by a secret that was valid when it began, and that its message id never changes.
   *
   * @param now the time of the day at the host: signatures and the validity of secrets go by it
   */
  #judgeSignature({ headers, body }: TransportRequest, webhookId: string, passage: string, now: number): void {
    const isSigned = (verify: (secret: string) => unknown) => (secret: string) => {
      try {
        return verify(secret) !== undefined;
      } catch {
        return false;
      }
    };
    const rules = { now: () => now, toleranceSeconds: 2 };
    const byV1 = isSigned((secret) => new Webhook(secret, rules).verifySignature(body, headers));
    const byStandard = isSigned((secret) => new StandardWebhook(secret, rules).verifySignature(body, headers));
    const signing = this.#signing.get(webhookId) ?? [];
    // A host may use a subscription that it has read a short time ago.
    const earliest = Math.min(now, this.#clock.now()) - READING_GOOD_FOR_MS;
    const good = signing.filter(({ until }) => until > earliest);
    const retired = signing.filter((one) => !good.includes(one));
    if (!good.some(({ secret }) => byV1(secret))) this.#violate(`${passage} is signed by no good secret`);
    if (retired.some(({ secret }) => byV1(secret) || byStandard(secret)))
      this.#violate(`${passage} is signed by a secret that has retired`);
    const id = headers['webhook-id'];
    if (this.#subscriptions.get(webhookId)?.signatureAlgorithms.length === 1) {
      if (id !== undefined) this.#violate(`${webhookId} did not ask for the standard`);
      return;
    }
    if (!good.some(({ secret }) => byStandard(secret))) this.#violate(`${passage} is not signed by the standard`);
    if (id === undefined) {
      this.#violate(`${passage} has no name`);
      return;
    }
    for (const [one, other] of [
      [id, passage],
      [passage, id],
    ] as const) {
      const known = this.#messages.get(one) ?? other;
      if (known !== other) this.#violate(`${one} belongs to ${other}, and before to ${known}`);
      this.#messages.set(one, other);
    }
  }

  async #newRun(): Promise<void> {
    const run: Run = {
      runId: `run_${this.#runs.length}`,
      tenant: this.#luck.pick(['acme', 'globex']),
      mode: 'live',
      workflowId: 'simulated',
      status: 'running',
      owner: { tenant: 'simulated' },
      inputs: {},
      tags: [],
      engineVersion: 1,
      eventLogSchemaVersion: 3,
      lastSequence: -1,
      createdAt: this.#clock.now(),
    };
    this.#runs.push(run);
    await this.#store.transaction((transaction) => this.#store.runs.insert(run, transaction));
  }

  /** Appends an event. An acknowledged one must arrive; one whose append failed may arrive or not. */
  async #append(): Promise<void> {
    const run = this.#runs[this.#luck.below(this.#runs.length)];
    if (run === undefined) return;
    const listening = [...this.#subscriptions.values()].filter(
      ({ tenant, webhookId }) => tenant === run.tenant && !this.#leaving.has(webhookId),
    );
    const states = await Promise.all(listening.map(({ webhookId }) => this.#store.subscriptions.read(webhookId)));
    const recorded = await this.#anyHost()
      .append(run)
      .catch(() => undefined);
    if (recorded === undefined || typeof recorded !== 'object') return;
    const { eventId, sequence, runId } = recorded as { eventId: string; sequence: number; runId: string };
    for (const [index, { webhookId, durable }] of listening.entries()) {
      if (states[index] === undefined || this.#leaving.has(webhookId)) continue;
      this.#passage(webhookId, eventId, { runId, sequence, durable });
    }
  }

  #passage(webhookId: string, eventId: string, of: Pick<Passage, 'runId' | 'sequence' | 'durable'>): Passage {
    const name = `${webhookId} ${eventId}`;
    const passage = this.#passages.get(name) ?? { webhookId, ...of, attempts: 0, delivered: 0 };
    this.#passages.set(name, passage);
    return passage;
  }

  async #unregister(): Promise<void> {
    const [webhookId] = [...this.#subscriptions.keys()].filter(
      (id) => !this.#leaving.has(id) && this.#luck.happens(0.3),
    );
    const subscription = webhookId === undefined ? undefined : this.#subscriptions.get(webhookId);
    if (webhookId === undefined || subscription === undefined) return;
    const { tenant } = subscription;
    const principal = { tenancy: { tenant, workspaces: 'all', mode: 'live' } };
    const { clock, dispatch: dispatcher } = this.#anyHost();
    const store = { ...this.#store, shared: this.#hosts.length > 1 };
    this.#leaving.add(webhookId);
    await unregister(
      { store, clock, dispatcher, recordAudit: async () => {} },
      principal as never,
      webhookId,
      undefined,
    );
    this.#gone.add(webhookId);
    this.#paused.delete(webhookId);
  }

  async #pauseOrResume(): Promise<void> {
    const ids = [...this.#subscriptions.keys()].filter((id) => !this.#leaving.has(id));
    const webhookId = ids[this.#luck.below(Math.max(1, ids.length))];
    if (webhookId === undefined) return;
    const isPaused = this.#paused.has(webhookId);
    await this.#move(webhookId, isPaused ? 'active' : 'paused');
    if (isPaused) this.#paused.delete(webhookId);
    else this.#paused.add(webhookId);
    this.#anyHost().dispatch.wake();
  }

  async #move(webhookId: string, to: 'active' | 'paused'): Promise<void> {
    const change = ({ status, circuit, failures }: Subscription) => ({
      status: status === 'active' || status === 'paused' ? to : status,
      circuit,
      failures,
    });
    await this.#store.transaction((transaction) =>
      this.#store.subscriptions.updateState(webhookId, change, transaction),
    );
  }

  /** Receives an attempt, and checks everything that must hold at its start. */
  #receive(request: TransportRequest, { inFlight, alive, clock }: Sender): Promise<TransportVerdict> {
    const { eventId, tenant, runId, sequence } = JSON.parse(new TextDecoder().decode(request.body));
    const webhookId = new URL(request.url).hostname.split('.')[0] ?? '';
    const subscription = this.#subscriptions.get(webhookId);
    if (subscription === undefined) throw new Error('An attempt without a subscription.');
    const passage = this.#passage(webhookId, eventId, { runId, sequence, durable: subscription.durable });
    passage.attempts++;
    this.#counts.attempts++;

    this.#judgeSignature(request, webhookId, `${webhookId} ${eventId}`, clock.now());
    if (this.#gone.has(webhookId)) this.#violate(`an attempt at ${webhookId} after its unregistration`);
    if (tenant !== subscription.tenant) this.#violate(`${webhookId} of ${subscription.tenant} heard of ${tenant}`);
    if (!subscription.durable && passage.attempts > 1) this.#violate(`${passage.attempts} attempts of best effort`);
    inFlight.set(webhookId, (inFlight.get(webhookId) ?? 0) + 1);
    if ((inFlight.get(webhookId) ?? 0) > this.#weather.perSubscription)
      this.#violate(`too many attempts at ${webhookId}`);
    const ofTenant = [...inFlight].filter(([id]) => this.#subscriptions.get(id)?.tenant === tenant);
    if (ofTenant.reduce((sum, [, count]) => sum + count, 0) > this.#weather.perTenant)
      this.#violate(`too many attempts for ${tenant}`);
    if ([...inFlight.values()].reduce((a, b) => a + b, 0) > this.#weather.total)
      this.#violate('too many attempts in all');

    return new Promise((resolve, reject) => {
      const { verdict, afterMs } = this.#answer(request);
      const done = () => {
        inFlight.set(webhookId, (inFlight.get(webhookId) ?? 1) - 1);
        if (!alive()) return;
        if (verdict.kind === 'answered' && verdict.status === 204) {
          passage.delivered++;
          if (passage.delivered > 1 && this.#isCalm()) this.#violate(`${webhookId} ${eventId} is delivered twice`);
          this.#counts.delivered++;
        }
        resolve(verdict);
      };
      const cancel = this.#clock.at(this.#clock.now() + afterMs, done);
      request.signal.addEventListener('abort', () => {
        cancel();
        inFlight.set(webhookId, (inFlight.get(webhookId) ?? 1) - 1);
        reject(request.signal.reason);
      });
    });
  }

  /** Whether nothing fails that may make a host lose a claim: then no event is delivered twice. */
  #isCalm(): boolean {
    const { storeFaults, crashes, stalls } = this.#weather;
    return !storeFaults && !crashes && !stalls;
  }

  #answer({ timeoutMs }: TransportRequest): { verdict: TransportVerdict; afterMs: number } {
    const afterMs = 1 + this.#luck.below(200);
    const answered = (status: number, retryAfter?: string): TransportVerdict => ({
      kind: 'answered',
      status,
      retryAfter,
      durationMs: afterMs,
    });
    if (!this.#isRough || this.#luck.happens(0.5)) return { verdict: answered(204), afterMs };
    const what = this.#luck.next();
    if (what < 0.4) return { verdict: answered(this.#luck.pick([400, 404, 500, 502])), afterMs };
    if (what < 0.6) return { verdict: answered(this.#luck.pick([429, 503]), String(this.#luck.below(10))), afterMs };
    if (what < 0.75) return { verdict: answered(this.#luck.pick([301, 302, 307])), afterMs };
    if (what < 0.85) return { verdict: { kind: 'failed', reason: 'reset', durationMs: afterMs }, afterMs };
    if (what < 0.9) return { verdict: { kind: 'denied', reason: 'address_denied', durationMs: 1 }, afterMs: 1 };
    if (what < 0.91) return { verdict: answered(410), afterMs };
    return { verdict: { kind: 'failed', reason: 'timeout', durationMs: timeoutMs }, afterMs: timeoutMs };
  }

  #violate(what: string): void {
    this.#violations.push(`${what}, at ${this.#clock.now() - START} ms`);
  }
}
