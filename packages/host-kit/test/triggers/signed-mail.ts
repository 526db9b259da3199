import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { dkimSign } from 'mailauth/lib/dkim/sign.js';

/** The records of a zone, by `name TYPE`. An error is thrown in place of an answer. */
export type Zone = Map<string, unknown>;

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const KEY = publicKey.export({ type: 'spki', format: 'der' }).toString('base64');

/** The records of a domain that signs with the key of these tests, sends from 192.0.2.1, and asks to reject other messages. */
export function zoneOf(...domains: readonly string[]): Zone {
  return new Map(
    domains.flatMap((domain): [string, unknown][] => [
      [`_dmarc.${domain} TXT`, [['v=DMARC1; p=reject']]],
      [`mail._domainkey.${domain} TXT`, [[`v=DKIM1; k=rsa; p=${KEY}`]]],
      [`${domain} TXT`, [['v=spf1 ip4:192.0.2.1 -all']]],
    ]),
  );
}

/** A resolver that answers from a zone, and from nowhere else. */
export function resolverOf(zone: Zone) {
  return {
    async resolve(name: string, type: string): Promise<unknown> {
      const answer = zone.get(`${name} ${type}`);
      if (answer instanceof Error) throw answer;
      if (answer !== undefined) return answer;
      throw Object.assign(new Error(`no record ${type} of ${name}`), { code: 'ENOTFOUND' });
    },
  };
}

export interface Mail {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

let mails = 0;

/** A message as its author writes it. A header of `headers` replaces the usual one; an empty one removes it. */
export function mail({ headers = {}, body = 'Hello\r\n' }: Mail = {}): string {
  const usual = {
    From: 'Ada <ada@shop.example>',
    To: 'orders@svc.example.com',
    Subject: 'An order',
    Date: 'Tue, 06 Jan 2026 10:00:00 +0000',
    'Message-ID': `<${mails++}@shop.example>`,
    'MIME-Version': '1.0',
    'Content-Type': 'text/plain; charset=utf-8',
  };
  const fields = Object.entries({ ...usual, ...headers }).filter(([, value]) => value !== '');
  return `${fields.map(([name, value]) => `${name}: ${value}`).join('\r\n')}\r\n\r\n${body}`;
}

export interface Signing {
  /** Default `shop.example`. */
  readonly domain?: string;
  readonly headerList?: readonly string[];
  readonly maxBodyLength?: number;
  readonly key?: KeyObject;
  readonly expires?: Date;
}

/** Puts a DKIM signature before a message, as the server of its author does. */
export async function signed(
  message: string,
  { domain = 'shop.example', headerList, maxBodyLength, key = privateKey, expires }: Signing = {},
): Promise<string> {
  const signer = {
    ...{ signingDomain: domain, selector: 'mail', algorithm: 'rsa-sha256' },
    privateKey: key.export({ type: 'pkcs8', format: 'pem' }).toString(),
    ...(headerList !== undefined && { headerList: [...headerList] }),
    ...(maxBodyLength !== undefined && { maxBodyLength }),
  };
  const { signatures, errors } = await dkimSign(message, {
    // Its declaration also wants the members of the first signature beside the list.
    ...{ ...signer, signatureData: [signer] },
    ...{ canonicalization: 'relaxed/relaxed', signTime: new Date(Date.UTC(2026, 0, 1)) },
    ...(expires !== undefined && { expires }),
  });
  if (errors.length > 0) throw new Error(`The message was not signed: ${JSON.stringify(errors)}`);
  return signatures + message;
}

/** A message of several parts. */
export function parts(...content: readonly string[]): Mail {
  return {
    headers: { 'Content-Type': 'multipart/mixed; boundary="next"' },
    body: `${content.map((part) => `--next\r\n${part}\r\n`).join('')}--next--\r\n`,
  };
}

/** A part that is a file. */
export function file(name: string, content: Uint8Array | string, type = 'text/csv'): string {
  const data = Buffer.from(content).toString('base64').replace(/.{76}/g, '$&\r\n');
  return (
    `Content-Type: ${type}\r\nContent-Disposition: attachment; filename="${name}"\r\n` +
    `Content-Transfer-Encoding: base64\r\n\r\n${data}`
  );
}
