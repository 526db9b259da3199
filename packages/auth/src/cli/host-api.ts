import { readFile } from 'node:fs/promises';
import { env } from 'node:process';
import { UsageError } from './terminal.ts';

/** Reads from a running host with an API key. */
export interface HostApi {
  /**
   * Returns the body of an answer with the status 200.
   *
   * @throws {Error} for another status, and when the host cannot be reached within 30 s
   */
  text(path: string): Promise<string>;
}

/**
 * Makes the reader of a host. The key comes from a file or from `SVC_AUDIT_KEY`: arguments are visible to other users of
 * the machine.
 *
 * @throws {UsageError} for a URL that is no origin with `/host/<org>`, and for a missing key
 */
export async function hostApi(url: string | undefined, keyFile: string | undefined): Promise<HostApi> {
  const base = baseOf(url);
  const key = await keyOf(keyFile);
  return {
    async text(path) {
      const response = await fetch(`${base}${path}`, {
        headers: { authorization: `Bearer ${key}` },
        // Another address must not get the key.
        redirect: 'error',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      }).catch((cause: unknown) => {
        throw new Error('the host cannot be reached.', { cause });
      });
      const text = await boundedText(response);
      if (response.status === 200) return text;
      throw new Error(`the host answered with the status ${response.status}${REASONS[response.status] ?? ''}.`);
    },
  };
}

const TIMEOUT_MS = 30_000;
const MAX_ANSWER = 16_777_216;

const REASONS: Readonly<Record<number, string>> = {
  401: ': it does not accept the key',
  403: ': the key lacks the scope audit:read',
  404: ': it has no audit log there, or no checkpoint yet',
};

function baseOf(url: string | undefined): string {
  const parsed = url !== undefined && URL.canParse(url) ? new URL(url) : undefined;
  const isHost = parsed !== undefined && /^(?:\/v1)?\/host\/[a-z0-9-]+\/?$/.test(parsed.pathname);
  if (!isHost || parsed.username !== '' || parsed.password !== '' || parsed.search !== '' || parsed.hash !== '')
    throw new UsageError('--url: must be a URL with /host/<org>. Pass e.g. https://svc.example.com/host/example.');
  const isLoopback = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(parsed.hostname);
  if (parsed.protocol !== 'https:' && !(parsed.protocol === 'http:' && isLoopback))
    throw new UsageError('--url: must be https://, because a key is sent. Only this machine may be http://.');
  return `${parsed.origin}${parsed.pathname.replace(/\/$/, '')}`;
}

async function keyOf(keyFile: string | undefined): Promise<string> {
  const text =
    keyFile === undefined
      ? (env.SVC_AUDIT_KEY ?? '')
      : await readFile(keyFile, 'utf8').catch((cause: unknown) => {
          throw new UsageError('--key-file: cannot be read. Check the path and its permissions.', { cause });
        });
  const key = text.trim();
  if (/^[\x21-\x7e]{16,8192}$/.test(key)) return key;
  throw new UsageError('--key-file: holds no API key. Pass a file with one, or set SVC_AUDIT_KEY.');
}

async function boundedText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let [text, bytes] = ['', 0];
  const reader = response.body?.getReader();
  for (let read = await reader?.read(); read !== undefined && !read.done; read = await reader?.read()) {
    bytes += read.value.length;
    if (bytes > MAX_ANSWER) {
      await reader?.cancel();
      throw new Error('the answer of the host is longer than 16 MiB.');
    }
    text += decoder.decode(read.value, { stream: true });
  }
  return text + decoder.decode();
}
