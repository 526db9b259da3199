export { type ErrorEnvelope, errorEnvelope, type Failure } from './error-envelope.ts';
export { type OwnerRecord, projectOwner, type SubjectRecord } from './owner.ts';
