export { type ErrorEnvelope, errorEnvelope, type Failure } from './error-envelope.ts';
export { isLinkable, type OwnerRecord, type ProjectedOwner, projectOwner, type SubjectRecord } from './owner.ts';
