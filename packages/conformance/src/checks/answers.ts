import { area, type RunnableCheck } from '../check.ts';
import { type Differs, differences, NOT_DESCRIBED } from '../description.ts';
import { header, holds, refused, same } from '../expect.ts';
import { type Answer, described, jsonOf } from '../http/answer.ts';
import { BOTH, type Major } from '../rule.ts';
import { bareId } from '../shapes/id.ts';
import { isRecord } from '../target.ts';
import type { Look } from '../witness.ts';

/** Rules about the answers to all checks of a run. They are judged when all other checks have ended. */
export const answers: readonly RunnableCheck[] = area('answers', {}, [
  {
    id: 'stamped',
    name: 'Every answer of an operation has the listed `SVC-Version` of the major that its request addressed.',
    rule: ['Versioning: Response header', 'versioning.response.names-producer'],
    watch:
      () =>
      (answer, { major, isNamed, target }) => {
        if (isPage(answer)) return false;
        const version = header(answer, 'SVC-Version', isNamed ? new RegExp(`^${major}\\.`) : /^[12]\./);
        holds(target.protocolVersions.includes(version), 'a version that is in protocolVersions', version, answer);
        return true;
      },
  },
  {
    id: 'refusals',
    name: 'Every refusal of an operation is JSON with a short code in `error`, a `message`, and nothing that its major has not.',
    rule: ['Error envelope', 'errors.envelope.fields'],
    watch:
      () =>
      (answer, { major }) => {
        if (answer.status < 400 || answer.sent.method === 'HEAD') return false;
        const { error } = refused({ ...answer, major }, answer.status);
        holds(/^[a-z0-9_.-]{1,64}$/.test(error), 'a code of at most 64 characters of a-z 0-9 _ . -', error, answer);
        return true;
      },
  },
  {
    id: 'codes',
    name: 'Every refusal has the status of its error code, and a 429 says in `Retry-After` after how many seconds to ask again.',
    rule: ['Errors', 'errors.code.one-status'],
    watch:
      () =>
      (answer, { major }) => {
        if (answer.status < 400) return false;
        if (answer.status === 429) header(answer, 'Retry-After', /^[0-9]+$/);
        const envelope = jsonOf(answer);
        const code = isRecord(envelope) ? String(envelope.error) : '';
        const allowed = STATUS_OF[code]?.[major];
        if (allowed === undefined) return false;
        holds(allowed.includes(answer.status), `status ${allowed.join(' or ')} for ${code}`, described(answer), answer);
        return true;
      },
  },
  {
    id: 'challenged',
    name: 'Every 401 has `WWW-Authenticate: Bearer`, and every 403 for a scope says `insufficient_scope` there.',
    rule: ['Errors', 'auth.challenge.every-401'],
    watch:
      () =>
      (answer, { major }) => {
        const lacksScope = answer.status === 403 && scopeIn(answer, major) !== undefined;
        if (answer.status !== 401 && !lacksScope) return false;
        header(answer, 'WWW-Authenticate', lacksScope ? /^Bearer\b.*\berror="insufficient_scope"/i : /^Bearer\b/i);
        return true;
      },
  },
  {
    id: 'allow',
    name: 'Every 405 is a `validation_error` that lists in `Allow` the methods of the path, and not the refused one.',
    rule: ['Versioning: Paths', 'versioning.paths.method-of-other-major'],
    watch:
      () =>
      (answer, { major }) => {
        if (answer.status !== 405 || answer.sent.method === 'HEAD') return false;
        refused({ ...answer, major }, 405, 'validation_error');
        const methods = header(answer, 'Allow', /^[A-Z]+(?: *, *[A-Z]+)*$/).split(/ *, */);
        holds(!methods.includes(answer.sent.method), `no ${answer.sent.method} in Allow`, methods.join(', '), answer);
        return true;
      },
  },
  {
    id: 'named-run',
    name: 'Every answer about one run has the id of that run in the form of its major.',
    rule: ['Versioning: Overlap behaviour', 'versioning.ids.projection'],
    watch:
      () =>
      (answer, { major, path }) => {
        const asked = /^\/runs\/([^/:]+)(?!.*:fork$)/.exec(path)?.[1];
        const body = jsonOf(answer);
        if (asked === undefined || answer.status >= 300 || !isRecord(body) || body.runId === undefined) return false;
        const id = decoded(asked);
        const seen = String(body.runId);
        const isRight = major === 1 ? seen === id : seen === id || (bareId(seen) === id && seen !== id);
        holds(isRight, `the runId ${id}`, seen, answer);
        return true;
      },
  },
  {
    id: 'replays',
    name: 'A reply with `SVC-Idempotent-Replay` has the status and the body of the first reply to its `Idempotency-Key`.',
    rule: ['Idempotency', 'operations.idempotency.kept'],
    watch: replayed,
  },
  {
    id: 'one-event',
    name: 'An event has the same content in every poll and stream of its major.',
    rule: ['Events', 'events.shape.immutable'],
    watch: eventsAlike,
  },
  {
    id: 'as-described',
    name: 'Every answer has a status, headers, a media type and a body that the API description of its operation has.',
    rule: ['Endpoints', 'operations.openapi.describes-every-answer'],
    watch: () => {
      const known = new Map<Major, Differs>();
      return (answer, { major: addressed, isNamed, path, target }) => {
        const producer = BOTH.find((one) => answer.header('SVC-Version')?.startsWith(`${one}.`) === true);
        const major = isNamed ? addressed : (producer ?? addressed);
        const description = target.descriptions[major];
        if (description === undefined || isPage(answer) || isStreamHead(answer)) return false;
        const differs = known.get(major) ?? differences(description);
        known.set(major, differs);
        const seen = differs(answer, path);
        if (seen === NOT_DESCRIBED) return false;
        holds(
          seen === undefined,
          'an answer as the API description has it',
          `${seen}, in ${described(answer)}`,
          answer,
        );
        return true;
      };
    },
  },
]);

function isPage(answer: Answer): boolean {
  return answer.header('content-type')?.startsWith('text/html') === true && accepts(answer, 'text/html');
}

function accepts({ sent }: Answer, type: string): boolean {
  return sent.headers.some(([name, value]) => name.toLowerCase() === 'accept' && value.includes(type));
}

/** The body of a stream is not read here. */
function isStreamHead(answer: Answer): boolean {
  return answer.header('content-type')?.startsWith('text/event-stream') === true;
}

function scopeIn(answer: Answer, major: Major): unknown {
  const envelope = jsonOf(answer);
  if (!isRecord(envelope)) return undefined;
  return major === 1 ? envelope.scopeRequired : isRecord(envelope.details) ? envelope.details.scopeRequired : undefined;
}

/** Reads an id from a segment: percent-encoded, or with `~` and two hexadecimal digits for a byte. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment.replace(/~([0-9A-F]{2})/g, '%$1'));
  } catch {
    return segment;
  }
}

function replayed(): Look {
  const first = new Map<string, Answer>();
  return (answer) => {
    const { method, url, headers, credentials } = answer.sent;
    const key = headers.find(([name]) => name.toLowerCase() === 'idempotency-key')?.[1];
    if (key === undefined) return false;
    const name = JSON.stringify([credentials, method, url, key]);
    const before = first.get(name);
    if (answer.header('SVC-Idempotent-Replay') === undefined) {
      // A refusal may be temporary: the reply that is kept comes after it.
      if (answer.status < 300 && first.size < MOST_KEPT) first.set(name, answer);
      return false;
    }
    if (before === undefined) return false;
    same([answer.status, answer.text], [before.status, before.text], 'status and body of the first reply', answer);
    return true;
  };
}

function eventsAlike(): Look {
  const seen = new Map<string, unknown>();
  return (answer, { major, path }) => {
    const shown = /\/events(?:\/poll)?$/.test(path) && answer.status === 200 ? jsonOf(answer) : undefined;
    // A poll shows a page of events, and a message of a stream one event.
    const listed = isRecord(shown) && Array.isArray(shown.events) ? shown.events : [shown];
    const events = listed
      .filter(isRecord)
      .filter(({ eventId, sequence }) => eventId !== undefined && sequence !== undefined);
    for (const event of events) {
      const name = `${major} ${event.runId} ${event.sequence}`;
      if (seen.has(name)) same(event, seen.get(name), 'the event', answer);
      else if (seen.size < MOST_KEPT) seen.set(name, event);
    }
    return events.length > 0;
  };
}

/** Replies and events that are kept to compare later ones with. */
const MOST_KEPT = 10_000;

function inBoth(...statuses: readonly number[]): Readonly<Record<Major, readonly number[]>> {
  return { 1: statuses, 2: statuses };
}

/** Statuses of the codes of the interface. A code of a vendor has any. */
const STATUS_OF: Readonly<Record<string, Readonly<Record<Major, readonly number[]>>>> = {
  unauthenticated: inBoth(401),
  key_expired: inBoth(401),
  key_revoked: inBoth(401),
  forbidden: inBoth(403),
  run_forbidden: inBoth(403),
  id_tenant_mismatch: inBoth(403),
  rate_limited: inBoth(429),
  webhook_url_rejected: inBoth(400),
  protocol_version_unsupported: inBoth(406),
  protocol_version_mismatch: inBoth(400),
  client_version_unsupported: inBoth(426),
  // Major 1 leaves the code of several refusals to the host.
  validation_error: { 1: [400, 405, 409, 413, 415, 422], 2: [400, 405] },
  not_found: inBoth(404),
  payload_too_large: inBoth(413),
  unsupported_media_type: inBoth(415),
  run_terminal: inBoth(409),
  run_state_conflict: inBoth(409),
  run_already_active: inBoth(409),
  idempotency_key_invalid: inBoth(400),
  idempotency_key_mismatch: inBoth(409),
  idempotency_in_flight: inBoth(409),
  fork_point_invalid: inBoth(422),
  interrupt_already_resolved: inBoth(409),
  unsupported_stream_mode: inBoth(400),
  capability_not_provided: inBoth(501),
};
