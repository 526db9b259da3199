/**
 * Returns whether the process is a build, which evaluates modules without the environment of production: that of Next.js,
 * and every npm script whose name begins with `build`.
 *
 * @param environment `process.env`
 */
export function isBuild(environment: Readonly<Record<string, string | undefined>>): boolean {
  const { NEXT_PHASE, npm_lifecycle_event } = environment;
  return NEXT_PHASE === 'phase-production-build' || /^(?:pre)?build/.test(npm_lifecycle_event ?? '');
}
