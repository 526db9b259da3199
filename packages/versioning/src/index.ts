export { VersioningError, type VersioningErrorCode } from './errors.ts';
export { CLIENT_VERSION_HEADER, VERSION_HEADER } from './headers.ts';
export { DISCOVERY_PATH, MANIFEST, type Operation, type OperationId } from './manifest.ts';
export { type Negotiation, negotiate } from './negotiate.ts';
export { pairingProblems } from './pairing.ts';
export type { RequestHead } from './request-head.ts';
export { mergeVary, stampResponse } from './respond.ts';
export { type Served, type ServedOptions, served } from './served.ts';
export type { Major } from './version.ts';
