import type { IncomingMessage, ServerResponse } from 'node:http';
import { type NegotiatedOperation, type Verdict, type VersioningOptions, verdictOn } from './verdict.ts';

/** Judges a request of Node by its target as received. */
export function verdictOfTarget(
  { method = '', headers, headersDistinct }: IncomingMessage,
  target: string,
  options: VersioningOptions,
): Verdict {
  return verdictOn({ method, target, headers, headersDistinct }, options);
}

/** Writes the headers of a verdict, and the whole response to a request that was rejected. */
export function settle(verdict: Verdict, response: ServerResponse): NegotiatedOperation | 'foreign' | 'answered' {
  if (verdict.kind === 'foreign') return 'foreign';
  for (const [name, value] of verdict.headers) response.setHeader(name, value);
  if (verdict.kind === 'operation') return verdict.negotiation;
  response.writeHead(verdict.status).end(verdict.body);
  return 'answered';
}
