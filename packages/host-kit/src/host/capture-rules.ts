import { CAPTURE_DEFAULTS } from '../options/capture-options.ts';
import type { HostOptions } from '../options.ts';
import type { CaptureRules } from '../webhooks/capture.ts';

/**
 * Applies the defaults of captured answers. Undefined: no answer is captured.
 *
 * @throws {TypeError} for a limit out of its range, and for a header that has credentials
 */
export function captureRules({ webhooks }: Pick<HostOptions, 'webhooks'>): CaptureRules | undefined {
  if (webhooks?.captureAnswers === undefined) return undefined;
  const { maxBytes, retentionHours, headers } = { ...CAPTURE_DEFAULTS, ...webhooks.captureAnswers };
  requireWhole('maxBytes', maxBytes, 0, 16_384);
  requireWhole('retentionHours', retentionHours, 1, 720);
  for (const name of headers) {
    if (!NAME.test(name))
      throw new TypeError('webhooks.captureAnswers.headers: has an entry that is no header name. Correct it.');
    if (WITH_CREDENTIALS.has(name.toLowerCase()))
      throw new TypeError(`webhooks.captureAnswers.headers: ${name} has credentials. Leave it out.`);
  }
  return { maxBytes, retentionMs: retentionHours * HOUR_MS, headers: headers.map((name) => name.toLowerCase()) };
}

function requireWhole(name: string, value: number, min: number, max: number): void {
  if (Number.isInteger(value) && value >= min && value <= max) return;
  throw new TypeError(`webhooks.captureAnswers.${name}: must be a whole number from ${min} to ${max}. Correct it.`);
}

const NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$/;
const WITH_CREDENTIALS: ReadonlySet<string> = new Set([
  ...['set-cookie', 'set-cookie2', 'cookie', 'authorization', 'proxy-authorization'],
  ...['authentication-info', 'proxy-authentication-info', 'www-authenticate', 'proxy-authenticate'],
]);
const HOUR_MS = 3_600_000;
