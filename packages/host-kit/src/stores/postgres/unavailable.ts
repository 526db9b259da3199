/**
 * Returns whether an error says that PostgreSQL is away or cannot serve, rather than that the program is wrong.
 *
 * @see Store.isUnavailable
 */
export function isUnavailable(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined;
    if (code !== undefined && (NETWORK.test(code) || SERVER.test(code))) return true;
    if (code === undefined && CLIENT.has(cause.message)) return true;
    if (cause instanceof AggregateError && cause.errors.some(isUnavailable)) return true;
  }
  return false;
}

const NETWORK =
  /^(?:ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN|ENOTFOUND|EAI_[A-Z]+)$/;
/**
 * Connection exceptions, rolled back by a conflict, read-only, insufficient resources (a full disk), lock not
 * available, cancelled by a time limit or an operator, I/O errors, damaged data.
 *
 * @see PostgreSQL, appendix A: error codes
 */
const SERVER = /^(?:08|40|53|58|XX00[12]|25006|55P03|57)/;
/** Errors of the driver, which have no code. */
const CLIENT: ReadonlySet<string> = new Set([
  'Connection terminated',
  'Connection terminated unexpectedly',
  'Connection terminated due to connection timeout',
  'Client has encountered a connection error and is not queryable',
  'timeout exceeded when trying to connect',
  'timeout expired',
  'Query read timeout',
]);
