/** Stands behind the guard of `proxy.ts`. */
export function GET(): Response {
  return new Response('behind the proxy');
}
