export { type Address, parseAddress } from './address.ts';
export { type AnswersCheck, checkAnswers } from './answers.ts';
export { type Cidr, inCidr, parseCidr } from './cidr.ts';
export { checkAddress, type Verdict } from './classify.ts';
export { EgressError, type EgressErrorCode } from './errors.ts';
export { type EgressPolicy, type EgressPolicyOptions, egressPolicy } from './policy.ts';
export type { UrlRejection } from './rejection.ts';
export { type CheckedUrl, checkUrl, type UrlCheck } from './url.ts';
