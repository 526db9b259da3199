import { withoutPlace } from '../../without-place.ts';

/**
 * Turns the error of a first connection into one sentence. The driver names neither the database nor a fix, and its stack
 * leads into the driver.
 *
 * @returns the error itself, when it has another reason
 */
export function unopened(url: string, error: unknown): unknown {
  if (!(error instanceof Error && 'code' in error && typeof error.code === 'string')) return error;
  const { code, message } = error;
  // A file that `url` names, such as a certificate, may be missing, too.
  const isOfFile = 'syscall' in error && error.syscall === 'open';
  const reason = isOfFile ? undefined : REASONS[code];
  if (reason !== undefined)
    return withoutPlace(`postgresStore: ${placeOf(url)} cannot be reached: ${reason}. Start it, or change url.`, code);
  if (!REFUSED.test(code)) return error;
  return withoutPlace(`postgresStore: ${placeOf(url)} refused the connection: ${message}. Change url.`, code);
}

/** Without the password, and without the name. */
function placeOf(url: string): string {
  const host = URL.parse(url)?.host ?? '';
  return host === '' ? 'the database' : `the database at ${host}`;
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  EHOSTUNREACH: 'the network has no way there',
  ENETUNREACH: 'the network has no way there',
  ENOENT: 'the socket does not exist',
  ENOTFOUND: 'its name is unknown',
  ETIMEDOUT: 'it does not answer',
  EAI_AGAIN: 'its name cannot be resolved now',
};

/** A wrong name or password, and a database that does not exist. @see PostgreSQL, appendix A: error codes */
const REFUSED = /^(?:28|3D000)/;
