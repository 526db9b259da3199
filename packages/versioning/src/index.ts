export {
  VERSIONING_ERROR_STATUS,
  VersioningError,
  type VersioningErrorCode,
  type VersioningErrorDetails,
} from './errors.ts';
export { CLIENT_VERSION_HEADER, VERSION_HEADER } from './headers.ts';
export { DISCOVERY_PATH, MANIFEST, type Operation, type OperationId } from './manifest.ts';
export {
  type ForeignPath,
  type MethodNotAllowed,
  type Negotiation,
  negotiate,
  type OperationAbsent,
  type OperationFound,
  type RequestRefused,
} from './negotiate.ts';
export { checkPairing, pairingProblems } from './pairing.ts';
export type { Phase } from './phases.ts';
export type { RequestHead } from './request-head.ts';
export { type Retirement, stampRetirement } from './retirement.ts';
export { type Served, type ServedOptions, served } from './served.ts';
export { markPage, markSharedName, type Page, pageProblems, representationOf } from './shared-name.ts';
export { checkVendorOrg } from './vendor-org.ts';
export type { Major } from './version.ts';
