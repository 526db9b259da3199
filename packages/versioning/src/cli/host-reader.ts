import { readFile, stat } from 'node:fs/promises';
import { type Terminal, UsageError } from './terminal.ts';

/** The options of commands that read a running host, for `parseArgs`. */
export const HOST_OPTIONS = {
  url: { type: 'string' },
  org: { type: 'string', default: 'example' },
  'key-file': { type: 'string' },
} as const;

/** The description of {@link HOST_OPTIONS}. */
export const HOST_HELP = `  --url URL        the origin of a running host
  --org NAME       the segment of /host/<org>/ (default example)
  --key-file FILE  holds a key with the scope audit:read for all workspaces. Or set SVC_VERSIONING_KEY
`;

/** The values of {@link HOST_OPTIONS}. */
export interface HostValues {
  readonly url?: string | undefined;
  readonly org: string;
  readonly 'key-file'?: string | undefined;
}

/** A JSON object as a host answered it. */
export type Members = Readonly<Record<string, unknown>>;

/** Reads documents of a host below `/host/<org>/versions`. */
export type HostReader = (path: string, query?: Readonly<Record<string, string>>) => Promise<Members>;

/**
 * Makes the reader of a running host.
 *
 * @throws {UsageError} for a URL, an organisation or a key of the wrong form. The reader throws it for a host that does not
 *   answer, or refuses.
 */
export async function hostReader(values: HostValues, { fetch, environment = {} }: Terminal): Promise<HostReader> {
  const { url = '', org, 'key-file': file } = values;
  if (!URL.canParse(url) || !['http:', 'https:'].includes(new URL(url).protocol))
    throw new UsageError('--url: must be an absolute URL. Pass the origin of a host, such as https://svc.example.');
  if (!/^[a-z0-9-]{1,64}$/.test(org)) throw new UsageError('--org: must be letters, digits and hyphens.');
  const key = file === undefined ? environment.SVC_VERSIONING_KEY : (await contentOf(file)).trim();
  // A header takes no line break, and an error about one would show the key.
  if (key === undefined || !/^[\x21-\x7e]{1,8192}$/.test(key))
    throw new UsageError(
      '--key-file: no key is given. Pass a file with a key of the scope audit:read, or set SVC_VERSIONING_KEY.',
    );
  const { origin } = new URL(url);
  return async (path, query = {}) => {
    const request = new Request(`${origin}/host/${org}/versions/${path}?${new URLSearchParams(query)}`, {
      headers: { authorization: `Bearer ${key}` },
      // A redirect would send the key to another origin.
      redirect: 'manual',
      signal: AbortSignal.timeout(LIMIT_MS),
    });
    const { status, text } = await answerOf(request, fetch, origin);
    const body = membersIn(text);
    if (status === 200 && body !== undefined) return body;
    const reason = typeof body?.message === 'string' ? body.message.slice(0, 300) : 'Check --url and --org.';
    throw new UsageError(`--url: the host answered ${status}: ${plainText(reason)}`);
  };
}

/** Replaces commands for a terminal, which a text of another party may contain. */
export function plainText(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '\u{FFFD}');
}

const LIMIT_MS = 30_000;
/** No document of a host is longer. */
const LONGEST_DOCUMENT = 8_388_608;
const LONGEST_KEY_FILE = 65_536;

async function answerOf(
  request: Request,
  fetch: Terminal['fetch'],
  origin: string,
): Promise<{ readonly status: number; readonly text: string }> {
  try {
    const response = await fetch(request);
    const chunks: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of response.body ?? []) {
      length += chunk.length;
      if (length > LONGEST_DOCUMENT) throw new TypeError('The document is too long.');
      chunks.push(chunk);
    }
    return { status: response.status, text: Buffer.concat(chunks).toString('utf8') };
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const reason = cause instanceof Error ? cause.message : 'no reason is known';
    throw new UsageError(
      `--url: ${origin} does not answer (${plainText(reason)}). Check the URL, and that the host is running.`,
    );
  }
}

async function contentOf(file: string): Promise<string> {
  try {
    if ((await stat(file)).size <= LONGEST_KEY_FILE) return await readFile(file, 'utf8');
  } catch {
    throw new UsageError(`--key-file: ${file} cannot be read. Check the path and its permissions.`);
  }
  throw new UsageError(`--key-file: ${file} is too long for a key. Pass the file of a key.`);
}

function membersIn(text: string): Members | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? { ...parsed } : undefined;
  } catch {
    return undefined;
  }
}
