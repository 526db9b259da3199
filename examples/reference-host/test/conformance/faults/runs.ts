import type { Fault } from '../fault.ts';
import { type Meddler, textIn } from '../faulty-proxy.ts';
import {
  ARTIFACT,
  all,
  answering,
  BULK,
  CANCEL,
  CREATE,
  EVERYTHING,
  FORK,
  header,
  INTERRUPT,
  instead,
  json,
  LIST,
  MOVE,
  make,
  mistaking,
  PAUSE,
  RUN,
  refusal,
  sending,
  sendingHeader,
  set,
  status,
  TOKEN,
} from '../meddlers.ts';

export const runFaults: readonly Fault[] = [
  { fault: 'answers 200 to a creation', breaks: ['runs.created-201'], host: status(CREATE, 201, 200) },
  {
    fault: 'leads elsewhere',
    breaks: ['runs.created-links'],
    host: json(CREATE, set('eventsUrl', 'https://elsewhere.invalid/events')),
  },
  {
    fault: 'finds no such workflow',
    breaks: ['runs.unknown-workflow-400'],
    host: status(CREATE, 400, 404, 'not_found'),
  },
  {
    fault: 'overlooks members that it does not know',
    breaks: ['runs.bad-body-400', 'runs.configurable-closed-400', 'runs.pause-body-400', 'errors.unknown-member-named'],
    host: all(
      sending(CREATE, set('conformanceUnknownMember', undefined), set('configurable', undefined)),
      sending(PAUSE, set('conformance', undefined)),
    ),
  },
  { fault: 'forgets metadata', breaks: ['runs.options-kept'], host: json(RUN, set('metadata', undefined)) },
  {
    fault: 'tells too much or too little of a run',
    breaks: ['runs.snapshot'],
    host: json(RUN, (body, { target }) =>
      target.startsWith('/v1') ? set('workflowId', undefined)(body) : set('startedAt', 'now')(body),
    ),
  },
  {
    fault: 'stamps runs with the former log',
    breaks: ['runs.event-log-schema-3'],
    host: json(RUN, set('eventLogSchemaVersion', 2)),
  },
  {
    fault: 'takes an unknown run for a bad request',
    breaks: ['runs.unknown-404'],
    host: status(RUN, 404, 400, 'validation_error'),
  },
  {
    fault: 'reads a run whole, always',
    breaks: ['runs.conditional-read'],
    host: sendingHeader(RUN, 'if-none-match', undefined),
  },
  {
    fault: 'takes a run for the same, whatever becomes of it',
    breaks: ['runs.tag-changes'],
    host: async (asked, pass) => {
      if (!RUN.test(`${asked.method} ${asked.target}`)) return pass(asked);
      if (asked.headers['if-none-match'] !== undefined) return refusal(304, {}, asked, { etag: '"same"' });
      const answered = await pass(asked);
      return { ...answered, headers: { ...answered.headers, etag: '"same"' } };
    },
  },
  {
    fault: 'fails what completes',
    breaks: ['runs.completes'],
    host: json(
      RUN,
      make('status', (was) => (was === 'completed' ? 'failed' : was)),
    ),
  },
  { fault: 'does not say why a run failed', breaks: ['runs.fails'], host: json(RUN, set('error', undefined)) },
  {
    fault: 'has no workflows to read',
    breaks: ['runs.workflow-read'],
    host: instead(/^GET (\/v1)?\/workflows\//, 404, { error: 'not_found', message: 'No.' }),
  },
  { fault: 'cancels in words alone', breaks: ['runs.cancelled'], host: json(CANCEL, set('status', 'running')) },
  {
    fault: 'does not say that a run had ended',
    breaks: ['runs.cancel-ended-v1'],
    host: json(CANCEL, set('alreadyTerminal', undefined)),
  },
  {
    fault: 'cancels what has ended',
    breaks: ['runs.cancel-ended-v2'],
    host: answering(CANCEL, (answered, asked) =>
      answered.status === 409 ? refusal(200, { status: 'completed' }, asked) : answered,
    ),
  },
  {
    fault: 'takes an unknown run for one in another state',
    breaks: ['runs.cancel-unknown-404'],
    host: status(CANCEL, 404, 409, 'run_terminal'),
  },
  {
    fault: 'tells the results of a bulk cancel in an order of its own',
    breaks: ['runs.bulk-cancel'],
    host: json(
      BULK,
      make('results', (results) => (Array.isArray(results) ? [...results].reverse() : results)),
    ),
  },
  {
    fault: 'does not say how many it cancels',
    breaks: ['runs.bulk-cancel-bounds-400'],
    host: json(BULK, set('details', undefined)),
  },
  { fault: 'answers 200 to a pause', breaks: ['runs.paused-and-resumed'], host: status(MOVE, 202, 200) },
  {
    fault: 'does not say why it cannot pause',
    breaks: ['runs.pause-conflict-409'],
    host: json(MOVE, set('details', undefined)),
  },
  {
    fault: 'lists the oldest first',
    breaks: ['runs.listed'],
    host: json(
      LIST,
      make('runs', (runs) => (Array.isArray(runs) ? [...runs].reverse() : runs)),
    ),
  },
  { fault: 'lists the runs of others', breaks: ['runs.list-of-tenant'], host: mistaking('otherTenant', 'main', LIST) },
  { fault: 'has one page of runs', breaks: ['runs.list-pages'], host: json(LIST, set('nextCursor', undefined)) },
  {
    fault: 'lists runs and does not say so',
    breaks: ['runs.list-unadvertised-404'],
    host: json(/^GET \/\.well-known\/svc$/, set('runList', undefined)),
  },
  {
    fault: 'does not name the source of a fork',
    breaks: ['runs.forked-replay'],
    host: json(FORK, set('sourceRunId', undefined)),
  },
  {
    fault: 'makes a fork the property of somebody else',
    breaks: ['runs.fork-keeps-owner'],
    host: forgettingOwnersOfForks(),
  },
  { fault: 'branches where it likes', breaks: ['runs.forked-branch'], host: json(FORK, set('fromSeq', 0)) },
  {
    fault: 'takes a bad fork for a bad state',
    breaks: ['runs.fork-refused'],
    host: status(FORK, 400, 409, 'run_state_conflict'),
  },
  {
    fault: 'does not say that a run waits',
    breaks: ['runs.approval-waits'],
    host: json(
      RUN,
      make('status', (was) => (was === 'waiting-approval' ? 'failed' : was)),
    ),
  },
];

/** Remembers which runs are forks by what their creation answered. */
function forgettingOwnersOfForks(): Meddler {
  const forks: string[] = [];
  return async (asked, pass) => {
    const name = `${asked.method} ${asked.target}`;
    const answered = await pass(asked);
    if (!FORK.test(name) && !RUN.test(name)) return answered;
    const body = JSON.parse(await textIn(answered));
    if (FORK.test(name)) forks.push(body.runId);
    const changed =
      forks.includes(body.runId) && RUN.test(name) ? make('owner.subject.subjectId', () => 'p_nobody')(body) : body;
    return { ...answered, body: JSON.stringify(changed) };
  };
}

export const interruptFaults: readonly Fault[] = [
  {
    fault: 'does not say what can be answered',
    breaks: ['interrupts.requested'],
    host: json(/\/events\/poll/, set('events.*.payload.data.actions', undefined)),
  },
  {
    fault: 'suspends another node',
    breaks: ['interrupts.suspended'],
    host: json(/\/events\/poll/, set('events.*.payload.nodeId', 'other')),
  },
  {
    fault: 'does not say what it resolved',
    breaks: ['interrupts.accepted'],
    host: json(INTERRUPT, set('nodeId', undefined)),
  },
  {
    fault: 'takes no for yes',
    breaks: ['interrupts.rejected'],
    host: sending(
      INTERRUPT,
      make('resumeValue.action', (action) => (action === 'reject' ? 'accept' : action)),
    ),
  },
  {
    fault: 'takes an answer twice',
    breaks: ['interrupts.resolved-once-409', 'interrupts.race-one-wins', 'interrupts.cancelled-run'],
    host: answering(INTERRUPT, (answered, asked) =>
      [409, 422].includes(answered.status)
        ? refusal(200, { runId: 'x', nodeId: 'gate', status: 'running' }, asked)
        : answered,
    ),
  },
  {
    fault: 'takes answers that it did not offer',
    breaks: ['interrupts.bad-answer-400'],
    host: sending(
      INTERRUPT,
      make('resumeValue.action', () => 'accept'),
      set('conformance', undefined),
    ),
  },
  {
    fault: 'takes an unknown node for a bad answer',
    breaks: ['interrupts.unknown-node-404'],
    host: status(INTERRUPT, 404, 400, 'validation_error'),
  },
  {
    fault: 'lets another workspace answer',
    breaks: ['interrupts.workspace-apart'],
    host: mistaking('otherWorkspace', 'main', INTERRUPT),
  },
  {
    fault: 'says 404 to a token that it did not make',
    breaks: ['interrupts.token-invalid-401'],
    host: status(TOKEN, 401, 404, 'not_found'),
  },
];

export const artifactFaults: readonly Fault[] = [
  {
    fault: 'does not say what kind of artifact it made',
    breaks: ['artifacts.created'],
    host: json(/\/events\/poll/, set('events.*.payload.artifactType', undefined)),
  },
  {
    fault: 'reads artifacts as text',
    breaks: ['artifacts.read'],
    host: header(ARTIFACT, 'content-type', 'text/plain'),
  },
  {
    fault: 'finds artifacts that are not there',
    breaks: ['artifacts.unknown-404', 'artifacts.of-its-run'],
    host: answering(ARTIFACT, (answered, asked) => (answered.status === 404 ? refusal(200, {}, asked) : answered)),
  },
  {
    fault: 'shows artifacts to another workspace',
    breaks: ['artifacts.workspace-apart'],
    host: mistaking('otherWorkspace', 'main', ARTIFACT),
  },
];

export const idempotencyFaults: readonly Fault[] = [
  {
    fault: 'ignores Idempotency-Key',
    breaks: ['idempotency.replayed', 'idempotency.mismatch-409', 'idempotency.concurrent', 'idempotency.key-form-400'],
    host: sendingHeader(EVERYTHING, 'idempotency-key', undefined),
  },
  {
    fault: 'keeps every answer under its key alone',
    breaks: ['idempotency.refusal-not-kept', 'idempotency.per-operation', 'idempotency.per-tenant'],
    host: keepingEveryAnswer(),
  },
];

function keepingEveryAnswer(): Meddler {
  const kept = new Map<string, ReturnType<typeof refusal>>();
  return async (asked, pass) => {
    const key = [asked.headers['idempotency-key'] ?? ''].flat().join();
    const former = kept.get(key);
    if (key !== '' && former !== undefined) return former;
    const answered = await pass(asked);
    if (key === '') return answered;
    const whole = { ...answered, body: await textIn(answered) };
    kept.set(key, whole);
    return whole;
  };
}
