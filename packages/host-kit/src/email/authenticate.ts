import type { DKIMResult, DNSResolver, SPFResult } from 'mailauth';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { evaluateDmarc } from 'mailauth/lib/dmarc/index.js';
import { spf as judgeSpf } from 'mailauth/lib/spf/index.js';
import type { AlignedSignature, AuthenticateEmailOptions, EmailAuthentication, SmtpFacts } from '../ports/email.ts';

/** Asks the name service, as `Resolver` of `node:dns/promises` does. */
export interface NameResolver {
  /**
   * Returns the records of a name. Rejects with the code `ENOTFOUND` or `ENODATA` when there is none; any other error is an outage,
   * after which the relay sends the message again.
   */
  resolve(name: string, type: string): Promise<unknown>;
}

/**
 * Judges DKIM, SPF and DMARC by the letter of their standards. A signature that leaves a part of the body unsigned does not count:
 * everyone could append to such a message. The parts of mailauth are called one by one, because together they would read the clock of
 * the machine, and fetch logos.
 */
export async function authenticate(
  resolver: NameResolver,
  message: Uint8Array,
  smtp: SmtpFacts,
  { now, signal }: AuthenticateEmailOptions,
): Promise<EmailAuthentication> {
  const asked = { resolver: until(signal, resolver), strict: true };
  const { clientAddress: ip, helo, mailFrom } = smtp;
  // An empty sender would be looked up in the `Return-Path` of the message, which its author writes.
  const sender = mailFrom === '' ? `postmaster@${helo}` : mailFrom;
  const { results, headerFrom, fromFields } = await dkimVerify(Buffer.from(message), {
    ...{ ...asked, sender, curTime: new Date(now), minBitLength: 1024 },
  });
  const spf = await judgeSpf({ ...asked, ip, helo, mta: 'svc', ...(mailFrom !== '' && { sender: mailFrom }) });
  const passed = results.filter(({ status }) => status.result === 'pass' && status.underSized === undefined);
  const { response, dkimAligned = new Set() } = await evaluateDmarc({
    ...{ ...asked, headerFrom, fromFields },
    spfDomains: spf.status.result === 'pass' ? [spf.domain] : [],
    dkimDomains: passed.flatMap(({ id, signingDomain: domain }) =>
      id === undefined || domain === undefined ? [] : [{ id, domain }],
    ),
  });
  const authors = { authors: headerFrom };
  if (response === false) return { dmarc: 'permerror', ...authors, signatures: [] };
  const signatures = passed.filter(({ signingDomain = '' }) => dkimAligned.has(normal(signingDomain))).map(alignedOf);
  const dmarc = dmarcOf(response.status.result);
  const isUnknown = dmarc === 'fail' && couldPass(response.status.header?.from ?? '', results, spf);
  return { dmarc: isUnknown ? 'temperror' : dmarc, ...authors, signatures };
}

/** Ends all questions with the signal: mailauth sets no limit of time. */
function until(signal: AbortSignal, resolver: NameResolver): DNSResolver {
  const late = new Promise<never>((_resolve, reject) => {
    const end = () =>
      reject(Object.assign(new Error('The name service did not answer in time.'), { code: 'ETIMEOUT' }));
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
  late.catch(() => {});
  const resolve = (name: string, type: string) => Promise.race([resolver.resolve(name, type), late]);
  // Its declaration leaves out the objects of `MX` records, which it reads as Node.js gives them.
  return resolve as DNSResolver;
}

function dmarcOf(result: string): EmailAuthentication['dmarc'] {
  return result === 'pass' || result === 'fail' || result === 'none' || result === 'temperror' ? result : 'permerror';
}

function alignedOf({ id = '', signingHeaders }: DKIMResult): AlignedSignature {
  const names = (signingHeaders?.keys ?? '').split(':').map((name) => name.trim().toLowerCase());
  return { id, signedFields: names.filter((name) => name !== '') };
}

/** Whether an answer that is missing could have made the message pass. Answers about strangers could not. */
function couldPass(author: string, results: readonly DKIMResult[], { status, domain }: SPFResult): boolean {
  const isSpfMissing = status.result === 'temperror' && isRelated(author, domain);
  return (
    isSpfMissing ||
    results.some((signature) => signature.status.result === 'temperror' && isRelated(author, signature.signingDomain))
  );
}

function isRelated(author: string, domain = ''): boolean {
  const [one, other] = [normal(author), normal(domain)];
  return one !== '' && other !== '' && (one === other || one.endsWith(`.${other}`) || other.endsWith(`.${one}`));
}

function normal(domain: string): string {
  return domain.toLowerCase().replace(/\.$/, '');
}
