import type { ServedOptions } from '@svc/versioning';

/** The default of `HostOptions.protocol`. */
export const DEFAULT_PROTOCOL: ServedOptions = { versions: ['1.1', '2.0'], preferred: '1.1' };
