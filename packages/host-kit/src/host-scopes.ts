import { SCOPES } from '@svc/auth';

/**
 * Every scope of the operations that a host of this kit can serve: those of the protocol, and those of the operations beside it.
 *
 * @example
 * import { grants } from '@svc/auth';
 * import { HOST_SCOPES } from '@svc/host-kit';
 *
 * console.log(HOST_SCOPES.filter((scope) => grants(['approvals:*'], scope)).join(' ')); // → approvals:respond approvals:override
 */
export const HOST_SCOPES = [
  ...SCOPES,
  'runs:annotate',
  'approvals:override',
  'byok:manage',
  'keys:manage',
  'keys:assign',
  'roles:manage',
  'withdrawals:manage',
] as const;
