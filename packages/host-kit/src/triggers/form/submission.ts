import { createHash } from 'node:crypto';
import { mintId } from '@svc/versioning/ids';
import type { Random } from '../../ports/random.ts';
import type { FormField } from './fields.ts';
import { TOKEN_FIELD } from './fields.ts';

/** The identity of a submission: one for each token. */
export interface Submission {
  /** A digest of the nonce of the token. */
  readonly dedupKey: string;
  /** Ends in a digest of the fields, so that a repetition with other fields is recognised when the document is deleted. */
  readonly deliveryId: string;
}

/** Identifies a submission by the nonce of its token and by its fields. */
export function submissionOf(
  nonce: string,
  fields: readonly FormField[],
  { now, random }: { readonly now: () => number; readonly random: Random },
): Submission {
  const content = fields.filter(([name]) => name !== TOKEN_FIELD);
  // The nonce keeps a reader of the id from guessing the fields.
  const mark = digestOf('svc:form-fields', nonce, content).subarray(0, MARK_BYTES);
  return {
    dedupKey: digestOf('svc:form', nonce, []).toString('base64url'),
    deliveryId: mintId('dlv', now, (size) => Buffer.concat([random(size - MARK_BYTES), mark])),
  };
}

/** Returns whether two submissions with one token have the same fields. */
export function hasSameFields(one: Pick<Submission, 'deliveryId'>, other: Pick<Submission, 'deliveryId'>): boolean {
  return one.deliveryId.slice(-MARK_DIGITS) === other.deliveryId.slice(-MARK_DIGITS);
}

/** 40 bits are 8 digits of an id. */
const MARK_BYTES = 5;
const MARK_DIGITS = 8;

function digestOf(purpose: string, nonce: string, content: readonly FormField[]): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([purpose, nonce, content]))
    .digest();
}
