import type { Attempt } from '../data/shapes.ts';

/** The cause of an attempt's outcome in words, with the next step of the operator. */
export interface Cause {
  /** A few words, such as `HTTP 500`. */
  readonly title: string;
  readonly sentence: string;
  /** Absent for an attempt that needs no repair. */
  readonly remedy?: string;
}

/** Explains an attempt. */
export function causeOf(attempt: Pick<Attempt, 'outcome' | 'status' | 'reason'>): Cause {
  const { outcome, status, reason } = attempt;
  if (outcome === 'delivered')
    return { title: `HTTP ${status ?? 200}`, sentence: 'The receiver accepted the delivery.' };
  if (outcome === 'skipped') return skippedCause(reason);
  return status === undefined ? unansweredCause(reason) : answeredCause(status);
}

function skippedCause(reason: string | undefined): Cause {
  return reason === 'subscription-failed'
    ? {
        title: 'Not attempted',
        sentence: 'The subscription had failed, so the host made no attempt.',
        remedy: 'Register the subscription again, and transfer its dead letters to the new one.',
      }
    : { title: 'Skipped', sentence: 'The delivery was no longer needed.' };
}

function unansweredCause(reason = 'transport'): Cause {
  return (
    UNANSWERED[reason] ?? { title: 'No answer', sentence: `The attempt ended without an answer (${reason}).`, ...LOOK }
  );
}

const LOOK = { remedy: 'Look at the log of the receiver at this time.' };

const UNANSWERED: Readonly<Record<string, Cause>> = {
  timeout: {
    title: 'Timeout',
    sentence: 'The receiver did not answer in time.',
    remedy: 'Let the receiver answer first, and do its work afterwards.',
  },
  unavailable: {
    title: 'Not reachable',
    sentence: 'The name did not resolve, the address is not allowed, or nothing accepts connections there.',
    remedy: 'Check that the URL is public, and that the receiver is running.',
  },
  tls: {
    title: 'TLS failed',
    sentence: 'No secure connection could be made.',
    remedy: 'Check the certificate of the receiver: its name, its chain and its expiry.',
  },
  protocol: {
    title: 'No HTTP answer',
    sentence: 'The receiver closed the connection, or answered with something that is not HTTP.',
    ...LOOK,
  },
  aborted: { title: 'Interrupted', sentence: 'The host stopped during the attempt, and makes it again.' },
};

function answeredCause(status: number): Cause {
  const title = `HTTP ${status}`;
  const known = ANSWERED[status];
  if (known !== undefined) return { title, ...known };
  if (status >= 500) {
    return {
      title,
      sentence: 'The receiver failed while it handled the delivery.',
      remedy: 'Look at the log of the receiver for this delivery id. Then send the delivery again.',
    };
  }
  if (status >= 300 && status < 400) {
    return {
      title,
      sentence: 'The receiver redirects, and the host follows no redirect.',
      remedy: 'Register the final URL.',
    };
  }
  return {
    title,
    sentence: 'The receiver refused the delivery.',
    remedy: 'Look at the log of the receiver for the reason of the refusal.',
  };
}

const SECRET = 'Compare the fingerprint of the secret with that of the receiver. Rotate the secret if they differ.';

const ANSWERED: Readonly<Record<number, Omit<Cause, 'title'>>> = {
  400: {
    sentence: 'The receiver could not read the delivery.',
    remedy: `Check that it verifies the raw body. ${SECRET}`,
  },
  401: { sentence: 'The receiver did not accept the signature.', remedy: SECRET },
  403: { sentence: 'The receiver did not accept the signature or the caller.', remedy: SECRET },
  404: {
    sentence: 'The receiver has nothing at this path.',
    remedy: 'Compare the path of the URL with the routes of the receiver.',
  },
  405: {
    sentence: 'The receiver takes no POST at this path.',
    remedy: 'Compare the path of the URL with the routes of the receiver.',
  },
  408: {
    sentence: 'The receiver gave up waiting for the request.',
    remedy: 'Look at the proxy in front of the receiver.',
  },
  410: {
    sentence: 'The receiver is gone for good, so the subscription has failed.',
    remedy: 'Register the subscription again if that was a mistake.',
  },
  413: {
    sentence: 'The delivery is too large for the receiver.',
    remedy: 'Raise the limit for bodies of the receiver or its proxy.',
  },
  429: {
    sentence: 'The receiver limits the rate of requests.',
    remedy: 'The host waits as Retry-After says. Redrive with a lower rate.',
  },
};
