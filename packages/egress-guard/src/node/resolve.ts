import { Resolver as DnsResolver } from 'node:dns/promises';

/** Resolves a name to all of its addresses. Tests and operators may implement it. */
export interface Resolver {
  /** Returns all A and AAAA answers as text. Rejects when the name cannot be resolved, or when `signal` aborts. */
  resolve(hostname: string, options: { readonly signal: AbortSignal }): Promise<readonly string[]>;
}

/** Resolves by DNS, without hosts file and search domains. A slow server occupies no thread of the pool. */
export const dnsResolver: Resolver = {
  async resolve(hostname, { signal }) {
    signal.throwIfAborted();
    // Each call has its own resolver, because `cancel` ends every query of a resolver.
    const resolver = new DnsResolver();
    const cancel = () => resolver.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      const [a, aaaa] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
      const answers = [a, aaaa].flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
      const failure = [a, aaaa].find((result) => result.status === 'rejected' && !hasNoRecord(result.reason));
      // With one of the two sets missing, the whole set cannot be judged.
      if (failure?.status === 'rejected') throw failure.reason;
      return answers;
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  },
};

function hasNoRecord(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENODATA' || error.code === 'ENOTFOUND');
}
