import { apiKeyLane, memoryKeyStore } from '@svc/auth/api-key';
import { createHost } from '@svc/host-kit';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { describe, expect, test } from 'vitest';

/** Every option of `createHost` that is a number, with the values at the ends of its range. */
const OPTIONS: Readonly<Record<string, readonly [number, number]>> = {
  'audit.checkpointIntervalEntries': [1, 1e6],
  'audit.checkpointIntervalSeconds': [1, 1e9],
  'http.cors.maxAgeSeconds': [0, 86_400],
  'retention.replyHours': [24, 36_500],
  'http.maxRequestBodyBytes': [1, 1e9],
  'protocol.mirrorReads.maxConcurrent': [1, 16],
  'features.portal.maxOpenPerTenant': [1, 1e6],
  'retention.auditDays': [1, 36_500],
  'retention.deliverySeriesDays': [1, 31],
  'retention.effectDays': [14, 36_500],
  'retention.runDays': [1, 36_500],
  'retention.versionUseDays': [1, 400],
  'http.streams.judgeEveryMs': [1, 1e12],
  'http.streams.keepAliveMs': [1, 30_000],
  'http.streams.readerLimits.perCredential': [1, 1e6],
  'http.streams.readerLimits.perRun': [1, 1e6],
  'http.streams.readerLimits.total': [1, 1e6],
  'http.streams.stallMs': [1, 1e12],
  'features.triggers.deadLetterRetentionDays': [0, 36_500],
  'features.triggers.dedupHours': [24, 36_500],
  'features.triggers.email.maxAttachmentBytes': [0, 1e9],
  'features.triggers.email.maxAttachments': [0, 1e6],
  'features.triggers.email.maxAttachmentsBytes': [0, 1e9],
  'features.triggers.failAfter': [1, 1e6],
  'features.triggers.maxBodyBytes': [1, 1e9],
  'features.triggers.maxDeadLetters': [1, 1e9],
  'features.triggers.maxPerTenant': [1, 1e9],
  'features.triggers.maxWaiting': [1, 1e9],
  'features.triggers.perClient.limit': [1, 1e6],
  'features.triggers.perClient.windowSeconds': [1, 1e9],
  'features.triggers.perTrigger.limit': [1, 1e6],
  'features.triggers.perTrigger.windowSeconds': [1, 1e9],
  'features.triggers.retryPolicy.maxAttempts': [1, 1e6],
  'features.triggers.secretOverlapSeconds': [0, 1e9],
  'features.triggers.streams.idleSeconds': [1, 2_147_483],
  'features.triggers.streams.maxAtOnce': [1, 1e6],
  'features.triggers.streams.maxPerTenant': [1, 1e6],
  'webhooks.attemptTimeoutMs': [1, 2_147_483_647],
  'webhooks.captureAnswers.maxBytes': [0, 16_384],
  'webhooks.captureAnswers.retentionHours': [1, 720],
  'webhooks.circuit.cooldownMs': [0, 1e12],
  'webhooks.circuit.failureLimit': [1, 1e6],
  'webhooks.circuit.failureThreshold': [1, 1e6],
  'webhooks.circuit.failureWindowMs': [0, 1e12],
  'webhooks.concurrency.perSubscription': [1, 64],
  'webhooks.concurrency.perTenant': [1, 64],
  'webhooks.concurrency.total': [1, 1e6],
  'webhooks.deadLetterRetentionDays': [0, 36_500],
  'webhooks.failAfterHours': [0, 36_500],
  'webhooks.retryPolicy.delayMs': [0, 1e12],
  'webhooks.retryPolicy.maxAttempts': [1, 1e6],
  'webhooks.retryPolicy.maxDelayMs': [0, 1e12],
  'webhooks.secretRotation.overlapSeconds': [60, 604_800],
  'features.workspaceFiles.maxFileBytes': [1, 1e9],
  'features.workspaceFiles.maxFiles': [1, 1e6],
  'features.workspaceFiles.maxVersions': [1, 1e6],
};

/** Options of which a part of the unit is accepted: half an hour, half a day. */
const MAY_BE_A_FRACTION = new Set([
  ...['retention.replyHours', 'features.triggers.dedupHours', 'webhooks.failAfterHours'],
  ...['features.triggers.deadLetterRetentionDays', 'webhooks.deadLetterRetentionDays'],
]);

/** The other options that a section needs. */
const SECTIONS: Readonly<Record<string, object>> = {
  audit: { signer: { publicKey: 'no key', sign: () => new Uint8Array(64) } },
  http: { cors: { origins: ['https://a.example'] } },
  features: {
    portal: { pageUrl: 'https://svc.example/portal/' },
    triggers: { perClient: { limit: 1, windowSeconds: 1 }, perTrigger: { limit: 1, windowSeconds: 1 } },
  },
};

describe.each(Object.entries(OPTIONS))('createHost with %s', (path, [min, max]) => {
  const wrong = [Number.NaN, Number.POSITIVE_INFINITY, -1, min - 1, String(min), null];
  const fraction = MAY_BE_A_FRACTION.has(path) ? [] : [min + 0.5];

  test.each([...wrong, ...fraction])('refuses %o in one sentence', (value) => {
    const make = () => made(path, value);
    expect(make).toThrow(TypeError);
    expect(make).toThrow(new RegExp(`^(?:createHost: )?${path.replaceAll('.', '\\.')}:? must be [^.]+\\. [^.]+\\.$`));
  });

  test('accepts its ends', () => {
    for (const value of [min, max]) expect(() => made(path, value)).not.toThrow(/ must be /);
  });
});

/** Calls `createHost` with one option, as a program in JavaScript may. */
function made(path: string, value: unknown): unknown {
  const [section = ''] = path.split('.');
  const given = placed(SECTIONS, path.split('.'), value);
  const options = {
    store: memoryStore(),
    authenticate: [apiKeyLane({ keys: memoryKeyStore([]) })],
    engine: async () => ({}),
    secretKey: new Uint8Array(32),
    baseUrl: 'https://svc.example',
    ports: { log: () => {} },
    [section]: Reflect.get(given, section),
  };
  return Reflect.apply(createHost, undefined, [options]);
}

/** Returns a copy of nested options with a value at a path. */
function placed(options: unknown, [name = '', ...rest]: readonly string[], value: unknown): object {
  const below = isObject(options) ? Reflect.get(options, name) : undefined;
  return { ...(isObject(options) && options), [name]: rest.length === 0 ? value : placed(below, rest, value) };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
