/** Takes secrets out of what is shown. */
export interface Redactor {
  conceal(secret: string): void;
  (text: string): string;
}

export function redactor(): Redactor {
  const secrets = new Set<string>();
  const redact = (text: string): string => {
    // The longest first: one may be a part of another.
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

/** What is shorter is no secret, and taking it out would spoil every text. */
const SHORTEST = 8;

/** Values of members whose name says that they are secret, known or not. */
function maskFields(text: string): string {
  return text.replace(/("(?:secret|token|resumeToken|interruptToken)"\s*:\s*")(?:[^"\\]|\\.)+"/g, '$1[redacted]"');
}
