import { isGrantableScope, isOpaqueId } from '@svc/auth';
import { z } from 'zod';
import type { JsonObject } from '../json.ts';
import type { AccessRecord, StoredAssignment, StoredRole, StoredWithdrawal } from '../ports/access.ts';

const TIME = z.iso.datetime({ offset: true });
export const opaque: z.ZodType<string> = z
  .string()
  .refine(isOpaqueId, 'must be an opaque id, without @, white space and slash');
/** A claim of a token as its issuer writes it. A control character is in none, and no database stores all of them. */
export const claim: z.ZodType<string> = z
  .string()
  .min(1)
  .max(1024)
  .regex(/^[^\p{C}]+$/u, 'must have no control characters');

export const accessScopes: z.ZodType<string[]> = z
  .array(z.string().refine(isGrantableScope, 'must be a scope such as runs:read or runs:*'))
  .min(1)
  .max(64)
  .refine((given) => new Set(given).size === given.length, 'must have each scope once')
  .describe('Scopes. A segment may be `*`.');

/** The body of a request for a new role. */
export interface NewRoleBody {
  readonly role: string;
  readonly scopes: string[];
}

/** The schema of a request for a new role. */
export const newRoleBody: z.ZodType<NewRoleBody> = z
  .strictObject({ role: opaque.describe('The name of the role.'), scopes: accessScopes })
  .meta({ id: 'NewRole' });

/** The body of a change of a role. */
export interface RoleChangeBody {
  readonly scopes: string[];
  readonly epoch?: number | undefined;
}

/** The schema of a change of a role. */
export const roleChangeBody: z.ZodType<RoleChangeBody> = z
  .strictObject({
    scopes: accessScopes,
    epoch: z
      .int()
      .min(1)
      .optional()
      .describe('The `epoch` of the role that you have read. The change is refused when there was another one since.'),
  })
  .meta({ id: 'RoleChange' });

/** The body of a request for a new assignment. */
export interface NewAssignmentBody {
  readonly principal: string;
  readonly workspace: string;
  readonly role: string;
}

/** The schema of a request for a new assignment. */
export const newAssignmentBody: z.ZodType<NewAssignmentBody> = z
  .strictObject({
    principal: opaque.describe('The principal that gets the role. It must not be the caller.'),
    workspace: opaque.describe('The workspace in which it has the role.'),
    role: opaque.describe('The name of the role.'),
  })
  .meta({ id: 'NewRoleAssignment' });

/** The body of a withdrawal. */
export type WithdrawalBody =
  | { readonly withdraws: 'principal'; readonly principal: string; readonly until?: string | undefined }
  | { readonly withdraws: 'token'; readonly issuer: string; readonly jti: string; readonly until?: string | undefined }
  | {
      readonly withdraws: 'session';
      readonly issuer: string;
      readonly sid: string;
      readonly until?: string | undefined;
    }
  | {
      readonly withdraws: 'subject';
      readonly issuer: string;
      readonly subject: string;
      readonly issuedBefore?: string | undefined;
      readonly until?: string | undefined;
    };

const issuer = claim.describe('The exact `iss` of the tokens. For SPIFFE: `spiffe://` and the trust domain.');
const until = TIME.optional().describe(
  'The end of the withdrawal. Give the latest expiry of the tokens. Default: 30 days from now; of a principal: never.',
);

/** The schema of a withdrawal. */
export const withdrawalBody: z.ZodType<WithdrawalBody> = z
  .discriminatedUnion('withdraws', [
    z.strictObject({
      withdraws: z.literal('principal'),
      principal: opaque.describe('The principal, with every credential that acts for it. It must not be the caller.'),
      until,
    }),
    z.strictObject({ withdraws: z.literal('token'), issuer, jti: claim.describe('The `jti` of the token.'), until }),
    z.strictObject({ withdraws: z.literal('session'), issuer, sid: claim.describe('The `sid` of the tokens.'), until }),
    z.strictObject({
      withdraws: z.literal('subject'),
      issuer,
      subject: claim.describe('The `sub` of the tokens, as the issuer writes it.'),
      issuedBefore: TIME.optional().describe('Tokens with an earlier `iat` are withdrawn. Default: now.'),
      until,
    }),
  ])
  .meta({ id: 'NewWithdrawal' });

/** The members of every record of access. */
export const RECORD = {
  id: z.string(),
  epoch: z.int().describe('1 for a new record, and one more after each change.'),
  source: z
    .enum(['operation', 'configuration'])
    .describe('`configuration`: only the configuration changes the record.'),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
};
export const nextAfter: z.ZodType = z
  .string()
  .optional()
  .describe('The `after` of the next page. Absent on the last one.');

/** The schema of a role. */
export const roleView: z.ZodObject = z
  .object({ ...RECORD, id: z.string().describe('The name of the role.'), scopes: z.array(z.string()) })
  .meta({ id: 'StoredRole' });

/** The schema of a page of roles. */
export const rolePage: z.ZodType = z.object({ roles: z.array(roleView), nextAfter }).meta({ id: 'StoredRoles' });

/** The schema of an assignment. */
export const assignmentView: z.ZodObject = z
  .object({ ...RECORD, principal: z.string(), workspace: z.string(), role: z.string() })
  .meta({ id: 'RoleAssignment' });

/** The schema of a page of assignments. */
export const assignmentPage: z.ZodType = z
  .object({ assignments: z.array(assignmentView), nextAfter })
  .meta({ id: 'RoleAssignments' });

/** The schema of a withdrawal. */
export const withdrawalView: z.ZodObject = z
  .object({
    ...RECORD,
    withdraws: z.enum(['principal', 'token', 'session', 'subject']),
    principal: z.string().optional(),
    issuer: z.string().optional(),
    jti: z.string().optional(),
    sid: z.string().optional(),
    subject: z.string().optional(),
    issuedBefore: z.iso.datetime().optional(),
    until: z.iso.datetime().optional().describe('Absent: the withdrawal has no end.'),
  })
  .meta({ id: 'Withdrawal' });

/** The schema of a page of withdrawals. */
export const withdrawalPage: z.ZodType = z
  .object({ withdrawals: z.array(withdrawalView), nextAfter })
  .meta({ id: 'Withdrawals' });

/** A role as its tenant sees it. */
export function viewOfRole(record: StoredRole): JsonObject {
  return { ...viewOfRecord(record), scopes: [...record.scopes] };
}

/** An assignment as its tenant sees it. */
export function viewOfAssignment(record: StoredAssignment): JsonObject {
  const { principal, workspace, role } = record;
  return { ...viewOfRecord(record), principal, workspace, role };
}

/** A withdrawal as its tenant sees it. */
export function viewOfWithdrawal(record: StoredWithdrawal): JsonObject {
  const { withdraws, name, issuer, issuedBefore, until } = record;
  return {
    ...viewOfRecord(record),
    withdraws,
    [MEMBER[withdraws]]: name,
    ...(issuer !== undefined && { issuer }),
    ...(issuedBefore !== undefined && { issuedBefore: new Date(issuedBefore).toISOString() }),
    ...(until !== undefined && { until: new Date(until).toISOString() }),
  };
}

const MEMBER = { principal: 'principal', token: 'jti', session: 'sid', subject: 'subject' } as const;

/** The members of every record, as its tenant sees them. */
export function viewOfRecord({ id, epoch, source, createdAt, updatedAt }: AccessRecord) {
  const time = (at: number) => new Date(at).toISOString();
  return { id, epoch, source, createdAt: time(createdAt), updatedAt: time(updatedAt) };
}
