import type { Redactor } from '../execution/redactor.ts';
import { isJsonObject, type Json } from '../json.ts';

/** Redacts the content of a bundle, and counts the texts in which it redacted something. */
export class BundleRedactor {
  readonly #secrets: Redactor;
  #count = 0;

  /** @param secrets knows the secrets that the tenant has stored */
  constructor(secrets: Redactor) {
    this.#secrets = secrets;
  }

  count(): number {
    return this.#count;
  }

  /**
   * Returns a value without stored secrets, without the values of members that are named like secrets, and without
   * texts that have the form of a credential.
   */
  redacted<T extends Json>(value: T): Json {
    return this.#walk(value, this.#secrets.redacted(value), false);
  }

  /** Like `redacted`, for records whose members are known to hold no secret: their names tell nothing. */
  redactedByForm(value: Json): Json {
    return this.#walk(value, this.#secrets.redacted(value), undefined);
  }

  /** @param isSecret whether the name of the member is that of a secret; undefined: names are not looked at */
  #walk(before: Json | undefined, value: Json, isSecret: boolean | undefined): Json {
    if (typeof value === 'string') return this.#text(before, value, isSecret === true);
    if (Array.isArray(value)) {
      const items: readonly Json[] = Array.isArray(before) ? before : [];
      return value.map((item, index) => this.#walk(items[index], item, isSecret));
    }
    if (!isJsonObject(value)) return value;
    const members = isJsonObject(before) ? before : {};
    return Object.fromEntries(
      Object.entries(value).map(([name, member = null]) => {
        const isNamed = isSecret === undefined ? undefined : isSecret || isSecretName(name);
        return [this.#text(name, name, false), this.#walk(members[name], member, isNamed)];
      }),
    );
  }

  #text(before: Json | undefined, text: string, isSecret: boolean): string {
    const shown = isSecret && text !== '' ? '[REDACTED]' : withoutCredentials(text);
    if (shown !== before) this.#count++;
    return shown;
  }
}

/** The last words of names whose values are secrets. */
const SECRET_WORDS: ReadonlySet<string> = new Set([
  ...['password', 'passwd', 'passphrase', 'pwd', 'secret', 'secrets', 'token', 'authorization', 'cookie'],
  ...['credential', 'credentials', 'apikey', 'api key', 'access key', 'private key', 'secret key', 'session id'],
]);

function isSecretName(name: string): boolean {
  if (name.length > LONGEST_NAME) return false;
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean);
  return SECRET_WORDS.has(words.at(-1) ?? '') || SECRET_WORDS.has(words.slice(-2).join(' '));
}

const LONGEST_NAME = 128;

function withoutCredentials(text: string): string {
  // Half of a surrogate pair cannot be signed: it has no bytes.
  let shown = text.replace(/\p{Cs}/gu, '\ufffd');
  for (const [form, replacement] of CREDENTIALS) shown = shown.replace(form, replacement);
  return shown;
}

/** Forms of credentials. Every repetition is limited, so that the time is linear in the text. */
const CREDENTIALS: readonly (readonly [form: RegExp, replacement: string])[] = [
  [/\b(Bearer|Basic|DPoP) +[A-Za-z0-9._~+/=-]{8,}/gi, '$1 [REDACTED]'],
  [/\beyJ[A-Za-z0-9_-]{8,1024}\.[A-Za-z0-9_-]{1,8192}\.[A-Za-z0-9_-]*/g, '[REDACTED]'],
  [/-----BEGIN [A-Z ]{0,32}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,32}PRIVATE KEY-----|$)/g, '[REDACTED]'],
  [/\bwhsec_[A-Za-z0-9+/=_-]{8,}/g, '[REDACTED]'],
  [/\bsvc_(?:live|test)_[A-Za-z0-9_-]{8,}/g, '[REDACTED]'],
  [/:\/\/[^\s/@:"]{0,256}:[^\s/@"]{1,256}@/g, '://[REDACTED]@'],
  [/([?&](?:[a-z]{1,16}[_-])?(?:token|key|secret|password|signature|sig)=)[^&\s#"]+/gi, '$1[REDACTED]'],
];
