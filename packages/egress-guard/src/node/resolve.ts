import { Resolver as DnsResolver } from 'node:dns/promises';

/** Turns a name into every address it has. A port, so that tests and operators bring their own. */
export interface Resolver {
  /** All A and AAAA answers. Rejects when the name cannot be resolved, or when `signal` aborts. */
  resolve(hostname: string, options: { readonly signal: AbortSignal }): Promise<readonly string[]>;
}

/** DNS itself: neither the hosts file nor search domains, and no thread of the pool held by a slow server. */
export const dnsResolver: Resolver = {
  async resolve(hostname, { signal }) {
    signal.throwIfAborted();
    // One each: `cancel` ends everything that a resolver has asked.
    const resolver = new DnsResolver();
    const cancel = () => resolver.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      const [a, aaaa] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
      const answers = [a, aaaa].flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
      const failure = [a, aaaa].find((result) => result.status === 'rejected' && !hasNoRecord(result.reason));
      // Half an answer set cannot be judged as a whole.
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
