import { running } from './host.ts';

/** Answers a request with the host, which reads bodies itself. */
export function answer(request: Request): Promise<Response> {
  return running().host.fetch(request);
}
