import type { Fault } from '../fault.ts';
import { type Meddler, textIn } from '../faulty-proxy.ts';
import {
  ANNOTATE,
  ANNOTATIONS,
  ARTIFACT,
  all,
  answering,
  BULK,
  CANCEL,
  CREATE,
  EFFECTS,
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
  text,
} from '../meddlers.ts';

export const runFaults: readonly Fault[] = [
  { fault: 'answers a creation with 200', breaks: ['runs.created-201'], host: status(CREATE, 201, 200) },
  {
    fault: 'links to another origin',
    breaks: ['runs.created-links'],
    host: json(CREATE, set('eventsUrl', 'https://elsewhere.invalid/events')),
  },
  {
    fault: 'shows no values of its runs',
    breaks: ['runs.values'],
    host: json(RUN, set('variables', undefined)),
  },
  {
    fault: 'answers 404 for an unknown workflow',
    breaks: ['runs.unknown-workflow-400'],
    host: status(CREATE, 400, 404, 'not_found'),
  },
  {
    fault: 'ignores unknown members',
    breaks: ['runs.bad-body-400', 'runs.configurable-closed-400', 'runs.pause-body-400', 'errors.unknown-member-named'],
    host: all(
      sending(CREATE, set('conformanceUnknownMember', undefined), set('configurable', undefined)),
      sending(PAUSE, set('conformance', undefined)),
    ),
  },
  { fault: 'omits metadata', breaks: ['runs.options-kept'], host: json(RUN, set('metadata', undefined)) },
  {
    fault: 'omits a member of a run, or adds one',
    breaks: ['runs.snapshot'],
    host: json(RUN, (body, { target }) =>
      target.startsWith('/v1') ? set('workflowId', undefined)(body) : set('startedAt', 'now')(body),
    ),
  },
  {
    fault: 'stamps runs with eventLogSchemaVersion 2',
    breaks: ['runs.event-log-schema-3'],
    host: json(RUN, set('eventLogSchemaVersion', 2)),
  },
  {
    fault: 'answers 400 for an unknown run',
    breaks: ['runs.unknown-404'],
    host: status(RUN, 404, 400, 'validation_error'),
  },
  {
    fault: 'ignores If-None-Match',
    breaks: ['runs.conditional-read'],
    host: sendingHeader(RUN, 'if-none-match', undefined),
  },
  {
    fault: 'never changes the ETag of a run',
    breaks: ['runs.tag-changes'],
    host: async (asked, pass) => {
      if (!RUN.test(`${asked.method} ${asked.target}`)) return pass(asked);
      if (asked.headers['if-none-match'] !== undefined) return refusal(304, {}, asked, { etag: '"same"' });
      const answered = await pass(asked);
      return { ...answered, headers: { ...answered.headers, etag: '"same"' } };
    },
  },
  {
    fault: 'has the status failed for a completed run',
    breaks: ['runs.completes'],
    host: json(
      RUN,
      make('status', (was) => (was === 'completed' ? 'failed' : was)),
    ),
  },
  { fault: 'omits the error of a failed run', breaks: ['runs.fails'], host: json(RUN, set('error', undefined)) },
  {
    fault: 'answers 404 for every workflow',
    breaks: ['runs.workflow-read'],
    host: instead(/^GET (\/v1)?\/workflows\//, 404, { error: 'not_found', message: 'No.' }),
  },
  {
    fault: 'has the status running after a cancellation',
    breaks: ['runs.cancelled'],
    host: json(CANCEL, set('status', 'running')),
  },
  {
    fault: 'omits alreadyTerminal',
    breaks: ['runs.cancel-ended-v1'],
    host: json(CANCEL, set('alreadyTerminal', undefined)),
  },
  {
    fault: 'answers 200 for the cancellation of an ended run in major 2',
    breaks: ['runs.cancel-ended-v2'],
    host: answering(CANCEL, (answered, asked) =>
      answered.status === 409 ? refusal(200, { status: 'completed' }, asked) : answered,
    ),
  },
  {
    fault: 'answers 409 for the cancellation of an unknown run',
    breaks: ['runs.cancel-unknown-404'],
    host: status(CANCEL, 404, 409, 'run_terminal'),
  },
  {
    fault: 'reverses the results of a bulk cancel',
    breaks: ['runs.bulk-cancel'],
    host: json(
      BULK,
      make('results', (results) => (Array.isArray(results) ? [...results].reverse() : results)),
    ),
  },
  {
    fault: 'omits maxRunIds',
    breaks: ['runs.bulk-cancel-bounds-400'],
    host: json(BULK, set('details', undefined)),
  },
  { fault: 'answers a pause with 200', breaks: ['runs.paused-and-resumed'], host: status(MOVE, 202, 200) },
  {
    fault: 'omits runStatus',
    breaks: ['runs.pause-conflict-409'],
    host: json(MOVE, set('details', undefined)),
  },
  {
    fault: 'lists the oldest run first',
    breaks: ['runs.listed'],
    host: json(
      LIST,
      make('runs', (runs) => (Array.isArray(runs) ? [...runs].reverse() : runs)),
    ),
  },
  {
    fault: 'lists runs of another tenant',
    breaks: ['runs.list-of-tenant'],
    host: mistaking('otherTenant', 'main', LIST),
  },
  { fault: 'omits nextCursor', breaks: ['runs.list-pages'], host: json(LIST, set('nextCursor', undefined)) },
  {
    fault: 'serves the run list without advertising it',
    breaks: ['runs.list-unadvertised-404'],
    host: json(/^GET \/\.well-known\/svc$/, set('runList', undefined)),
  },
  {
    fault: 'omits sourceRunId',
    breaks: ['runs.forked-replay'],
    host: json(FORK, set('sourceRunId', undefined)),
  },
  {
    fault: 'has another owner for a fork',
    breaks: ['runs.fork-keeps-owner'],
    host: forgettingOwnersOfForks(),
  },
  { fault: 'branches at another sequence', breaks: ['runs.forked-branch'], host: json(FORK, set('fromSeq', 0)) },
  {
    fault: 'answers 409 for a malformed fork',
    breaks: ['runs.fork-refused'],
    host: status(FORK, 400, 409, 'run_state_conflict'),
  },
  {
    fault: 'has another status for a waiting run',
    breaks: ['runs.approval-waits'],
    host: json(
      RUN,
      make('status', (was) => (was === 'waiting-approval' ? 'failed' : was)),
    ),
  },
];

/** Changes the owner of each run that was created by a fork. */
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
    fault: 'omits the actions of an approval',
    breaks: ['interrupts.requested'],
    host: json(/\/events\/poll/, set('events.*.payload.data.actions', undefined)),
  },
  {
    fault: 'names another node in node.suspended',
    breaks: ['interrupts.suspended'],
    host: json(/\/events\/poll/, set('events.*.payload.nodeId', 'other')),
  },
  {
    fault: 'omits nodeId from the response to a decision',
    breaks: ['interrupts.accepted'],
    host: json(INTERRUPT, set('nodeId', undefined)),
  },
  {
    fault: 'treats a rejection as an acceptance',
    breaks: ['interrupts.rejected', 'interrupts.quorum-veto'],
    host: sending(
      INTERRUPT,
      make('resumeValue.action', (action) => (action === 'reject' ? 'accept' : action)),
    ),
  },
  {
    fault: 'accepts a second decision',
    breaks: ['interrupts.resolved-once-409', 'interrupts.race-one-wins', 'interrupts.cancelled-run'],
    host: answering(INTERRUPT, (answered, asked) =>
      [409, 422].includes(answered.status)
        ? refusal(200, { runId: 'x', nodeId: 'gate', status: 'running' }, asked)
        : answered,
    ),
  },
  {
    fault: 'accepts an action that it did not offer',
    breaks: ['interrupts.bad-answer-400'],
    host: sending(
      INTERRUPT,
      make('resumeValue.action', () => 'accept'),
      set('conformance', undefined),
    ),
  },
  {
    fault: 'answers 400 for an unknown node',
    breaks: ['interrupts.unknown-node-404'],
    host: status(INTERRUPT, 404, 400, 'validation_error'),
  },
  {
    fault: 'lets another workspace decide',
    breaks: ['interrupts.workspace-apart'],
    host: mistaking('otherWorkspace', 'main', INTERRUPT),
  },
  {
    fault: 'grants an approval by one of two votes',
    breaks: ['interrupts.quorum-waits'],
    host: json(
      INTERRUPT,
      make('status', () => 'running'),
    ),
  },
  {
    fault: 'answers 404 for an unknown interrupt token',
    breaks: ['interrupts.token-invalid-401'],
    host: status(TOKEN, 401, 404, 'not_found'),
  },
];

export const clarificationFaults: readonly Fault[] = [
  {
    fault: 'waits for a clarification as for an approval',
    breaks: ['clarifications.waits'],
    host: json(
      RUN,
      make('status', (status) => (status === 'waiting-input' ? 'waiting-approval' : status)),
    ),
  },
  {
    fault: 'omits the questions of a clarification',
    breaks: ['clarifications.requested'],
    host: json(/\/events\/poll/, set('events.*.payload.data.questions', undefined)),
  },
  {
    fault: 'has no events of clarifications',
    breaks: ['clarifications.own-types'],
    host: json(
      /\/events\/poll/,
      make('events.*.type', (type) => String(type).replace('clarification.', 'interrupt.')),
    ),
  },
  {
    fault: 'omits nodeId from the response to an answer',
    breaks: ['clarifications.answered'],
    host: json(INTERRUPT, set('nodeId', undefined)),
  },
  {
    fault: 'accepts a second answer',
    breaks: ['clarifications.race-one-wins'],
    host: answering(INTERRUPT, (answered, asked) =>
      answered.status === 409 ? refusal(200, { runId: 'x', nodeId: 'ask', status: 'running' }, asked) : answered,
    ),
  },
];

export const externalEventFaults: readonly Fault[] = [
  {
    fault: 'waits for an external event as for input',
    breaks: ['external-events.waits'],
    host: json(
      RUN,
      make('status', (status) => (status === 'waiting-external' ? 'waiting-input' : status)),
    ),
  },
  {
    fault: 'omits the correlation of an external event',
    breaks: ['external-events.requested'],
    host: json(/\/events\/poll/, set('events.*.payload.data.correlation', undefined)),
  },
  {
    fault: 'loses the external event',
    breaks: ['external-events.delivered'],
    host: sending(
      INTERRUPT,
      make('resumeValue', () => ({})),
    ),
  },
  {
    fault: 'accepts an external event twice',
    breaks: ['external-events.delivered-once-409'],
    host: answering(INTERRUPT, (answered, asked) => (answered.status === 409 ? refusal(200, {}, asked) : answered)),
  },
];

export const artifactFaults: readonly Fault[] = [
  {
    fault: 'omits artifactType',
    breaks: ['artifacts.created'],
    host: json(/\/events\/poll/, set('events.*.payload.artifactType', undefined)),
  },
  {
    fault: 'serves artifacts as text',
    breaks: ['artifacts.read'],
    host: header(ARTIFACT, 'content-type', 'text/plain'),
  },
  {
    fault: 'answers 200 for an unknown artifact',
    breaks: ['artifacts.unknown-404', 'artifacts.of-its-run'],
    host: answering(ARTIFACT, (answered, asked) => (answered.status === 404 ? refusal(200, {}, asked) : answered)),
  },
  {
    fault: 'serves artifacts to another workspace',
    breaks: ['artifacts.workspace-apart'],
    host: mistaking('otherWorkspace', 'main', ARTIFACT),
  },
];

export const annotationFaults: readonly Fault[] = [
  {
    fault: 'stores no annotation',
    breaks: ['annotations.listed'],
    host: json(ANNOTATIONS, set('annotations', [])),
  },
  {
    fault: 'accepts any annotation',
    breaks: ['annotations.bad-body-400'],
    host: status(ANNOTATE, 400, 201),
  },
  {
    fault: 'answers 200 for the annotations of an unknown run',
    breaks: ['annotations.unknown-404'],
    host: answering(ANNOTATIONS, (answered, asked) => (answered.status === 404 ? refusal(200, {}, asked) : answered)),
  },
  {
    fault: 'lets a reader annotate',
    breaks: ['annotations.scope'],
    host: mistaking('readOnly', 'main', ANNOTATE),
  },
  {
    fault: 'shows annotations to another workspace',
    breaks: ['annotations.workspace-apart'],
    host: mistaking('otherWorkspace', 'main', ANNOTATIONS),
  },
  {
    fault: 'shows secrets in annotations',
    breaks: ['annotations.redacted'],
    host: text(ANNOTATIONS, (body) => body.replaceAll('[redacted]', 'sk-conformance0123456789')),
  },
];

export const effectFaults: readonly Fault[] = [
  {
    fault: 'advertises idempotency without a ledger',
    breaks: ['effects.ledger', 'effects.entry'],
    majors: [2],
    host: instead(EFFECTS, 404, { error: 'not_found', message: 'There is no ledger.' }),
  },
  {
    fault: 'shows the result of an effect',
    breaks: ['effects.entry'],
    majors: [2],
    host: json(EFFECTS, set('effects.*.result', { isMade: true })),
  },
  {
    fault: 'answers 200 for the ledger of an unknown run',
    breaks: ['effects.unknown-404'],
    majors: [2],
    host: answering(EFFECTS, (answered, asked) => (answered.status === 404 ? refusal(200, {}, asked) : answered)),
  },
  {
    fault: 'serves ledgers to another workspace',
    breaks: ['effects.workspace-apart'],
    majors: [2],
    host: mistaking('otherWorkspace', 'main', EFFECTS),
  },
];

export const idempotencyFaults: readonly Fault[] = [
  {
    fault: 'ignores Idempotency-Key',
    breaks: ['idempotency.replayed', 'idempotency.mismatch-409', 'idempotency.concurrent', 'idempotency.key-form-400'],
    host: sendingHeader(EVERYTHING, 'idempotency-key', undefined),
  },
  {
    fault: 'stores every response under its key alone',
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
