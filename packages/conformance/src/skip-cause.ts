/**
 * The cause of a skip:
 *
 * - `set-up`: the main key, one of its scopes, a fixture workflow or the receiver is missing.
 * - `extra`: a further key, or an option of the suite, is missing.
 * - `host`: the host does not advertise the capability, or is too slow or too large for the check.
 * - `mode`: the check is for hosts of another kind: durable or best-effort, with one major or two.
 */
export type SkipCause = 'set-up' | 'extra' | 'host' | 'mode';
