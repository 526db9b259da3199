/** Returns whether a text contains credential material, which must not enter a record. */
export function looksLikeCredential(text: string): boolean {
  return text.length >= SHORTEST && CREDENTIAL.test(text);
}

/** No usable credential is shorter. */
const SHORTEST = 10;

/** The form of a certificate, a token or a minted API key, anywhere in a text. */
const CREDENTIAL =
  /-----BEGIN|(?:^|[^A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+\.|^eyJ[A-Za-z0-9_-]{16}|(?:^|[^A-Za-z0-9+/])MI[I-L][A-Za-z0-9+/_-]{40}|svc_(?:live|test)_[0-9a-f]{16}/;
