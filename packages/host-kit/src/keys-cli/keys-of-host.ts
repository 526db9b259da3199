import type { JsonObject } from '../json.ts';
import { type KeyTarget, Refused, Unreachable, UsageError } from './terminal.ts';

export interface HostAddress {
  readonly url: string;
  readonly org: string;
  /** A key with the scope `keys:manage`. */
  readonly key: string;
  readonly fetch: (request: Request) => Promise<Response>;
}

/** The keys of a running host, over its API. */
export function keysOfHost({ url, org, key, fetch }: HostAddress): KeyTarget {
  if (!URL.canParse(url)) throw new UsageError('--url: is not a URL. Pass one such as https://svc.example.com.');
  if (!/^[a-z0-9-]{1,64}$/.test(org)) throw new UsageError('--org: must be letters, digits and hyphens.');
  const base = new URL(`/host/${org}/keys`, url).href;

  return {
    create: async (fields) => shown(await send('POST', '', fields)),
    rotate: async (id, fields) => shown(await send('POST', `/${encodeURIComponent(id)}/rotate`, fields)),
    revoke: (id) => send('POST', `/${encodeURIComponent(id)}/revoke`),
    async *list({ state, principal }) {
      const query = new URLSearchParams({ limit: '200', ...(state && { state }), ...(principal && { principal }) });
      for (let after: unknown = ''; typeof after === 'string'; ) {
        query.set('after', after);
        const page = await send('GET', `?${query}`);
        for (const each of Array.isArray(page.keys) ? page.keys : []) yield Object(each);
        after = page.nextAfter;
      }
    },
    import() {
      throw new UsageError('import: works on a store. Pass --store.');
    },
    close: async () => {},
  };

  async function send(method: string, path: string, body?: object): Promise<JsonObject> {
    const headers = {
      authorization: `Bearer ${key}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    };
    const signal = AbortSignal.timeout(LIMIT_MS);
    const request = new Request(base + path, {
      method,
      headers,
      signal,
      // A redirect would send the key to another origin.
      redirect: 'manual',
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    let status: number;
    let answer: JsonObject | undefined;
    try {
      const response = await fetch(request);
      status = response.status;
      answer = objectIn(await response.text());
    } catch {
      throw new Unreachable(
        `${new URL(url).origin}: does not answer. Check the URL, or pass --store if the host is down.`,
      );
    }
    if (status >= 500) throw new Unreachable(`the host answered ${status}. Try again.`);
    if (status >= 200 && status < 300 && answer !== undefined) return answer;
    const reason = typeof answer?.message === 'string' ? answer.message : 'Check --url and --org.';
    throw new Refused(`the host answered ${status}: ${reason}`);
  }
}

/** Longer than a host waits for the confirmation of a revocation. */
const LIMIT_MS = 30_000;

function shown(answer: JsonObject): JsonObject & { readonly key: string } {
  const { key } = answer;
  if (typeof key !== 'string') throw new Refused('the host answered without a key.');
  return { ...answer, key };
}

function objectIn(text: string): JsonObject | undefined {
  try {
    const read: unknown = JSON.parse(text);
    return typeof read === 'object' && read !== null && !Array.isArray(read) ? Object(read) : undefined;
  } catch {
    return undefined;
  }
}
