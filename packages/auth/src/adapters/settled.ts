import type { ServerResponse } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';
import type { Admittance } from '../guard.ts';

/** Writes the headers of a verdict, and the whole refusal. Returns whether the request goes on. */
export function settled<Caller>(
  verdict: Admittance<Caller>,
  response: ServerResponse | Http2ServerResponse,
): verdict is Extract<Admittance<Caller>, { readonly admitted: true }> {
  const { headers } = verdict.admitted ? verdict : verdict.refusal;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (verdict.admitted) return true;
  response.statusCode = verdict.refusal.status;
  response.end(verdict.refusal.body);
  return false;
}
