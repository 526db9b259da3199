/** Replaces secrets in text by `[redacted]`. */
export interface Redactor {
  /** Adds a secret of at least 8 characters. */
  conceal(secret: string): void;
  /** Returns the text without the secrets. */
  (text: string): string;
}

export function redactor(): Redactor {
  const secrets = new Set<string>();
  const redact = (text: string): string => {
    // Longest first: a secret may contain another.
    const ordered = [...secrets].sort((one, other) => other.length - one.length);
    return ordered.reduce((shown, secret) => shown.replaceAll(secret, '[redacted]'), maskFields(text));
  };
  return Object.assign(redact, {
    conceal(secret: string): void {
      if (secret.length < SHORTEST) return;
      for (const form of [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]) secrets.add(form);
    },
  });
}

/** A shorter value is not a secret, and replacing it would make reports unreadable. */
const SHORTEST = 8;

/** Replaces the values of JSON members that hold secrets, such as `secret` and `token`. */
function maskFields(text: string): string {
  return text.replace(/("(?:secret|token|resumeToken|interruptToken)"\s*:\s*")(?:[^"\\]|\\.)+"/g, '$1[redacted]"');
}
