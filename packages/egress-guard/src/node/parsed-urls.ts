import type { EgressPolicy } from '../policy.ts';
import { checkUrl, judgeUrl, parseUrl, type UrlCheck, type UrlParts } from '../url.ts';

/**
 * Checks URLs that are called again and again. A URL is judged at each call; only the parts that `URL` has found in its
 * text are kept, because they depend on the text alone.
 */
export class ParsedUrls {
  readonly #parsed = new Map<string, UrlParts>();

  /** Judges a URL, as `checkUrl`. */
  check(text: string, policy: EgressPolicy): UrlCheck {
    const known = this.#parsed.get(text);
    if (known !== undefined) return judgeUrl(known, policy);
    const url = text.length > LONGEST ? undefined : parseUrl(text);
    if (url === undefined) return checkUrl(text, policy);
    const { href, protocol, username, password, port, hostname } = url;
    const parts = { href, protocol, username, password, port, hostname };
    const judged = judgeUrl(parts, policy);
    if (judged.ok) this.#keep(text, parts);
    return judged;
  }

  #keep(text: string, parts: UrlParts): void {
    const [oldest] = this.#parsed.size >= MOST ? this.#parsed.keys() : [];
    if (oldest !== undefined) this.#parsed.delete(oldest);
    this.#parsed.set(text, parts);
  }
}

/** Bounds the memory. */
const MOST = 4000;
const LONGEST = 512;
