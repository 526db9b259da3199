/**
 * Replaces text in the shape of a well-known kind of secret by `[redacted]`, in every text of a JSON value. A secret of
 * another shape is not recognised.
 */
export function withoutSecrets<T>(value: T): T {
  return JSON.parse(JSON.stringify(value), (_name, member: unknown) =>
    typeof member === 'string' ? member.replace(SECRET, '[redacted]') : member,
  );
}

const SECRET = new RegExp(
  [
    // Keys of model providers and of payment providers.
    String.raw`\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{12,}`,
    // Tokens of GitHub and Slack, and access keys of AWS.
    String.raw`\bgh[oprsu]_[A-Za-z0-9]{20,}`,
    String.raw`\bxox[abeprs]-[A-Za-z0-9-]{10,}`,
    String.raw`\bAKIA[A-Z0-9]{16}\b`,
    // JSON Web Tokens, also with their end cut off, bearer tokens and private keys. Without the limits, a text of many
    // beginnings takes quadratic time.
    String.raw`\beyJ[\w-]{8,512}\.[\w-]{8,8192}(?:\.[\w-]*|$)`,
    String.raw`\bBearer [\w.~+/-]{16,}=*`,
    String.raw`-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]*`,
  ].join('|'),
  'g',
);
