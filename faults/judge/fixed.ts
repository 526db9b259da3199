import { DELIVERY, type Exchange, isRecord, isStream, jsonIn } from '../exchange.ts';
import { fieldOf, framesIn, isEvent } from '../frames.ts';
import { type Place, valuesAt } from '../places.ts';

/**
 * Members whose value the interface fixes: by the request, by the run's log, or by what other operations answer. Any other
 * value than the recorded one is false, also when it fits its schema.
 */
interface Fixed {
  readonly requirement: string;
  readonly operation: RegExp;
  readonly members: readonly Place[];
  /** Default: every status below 400. */
  readonly applies?: (exchange: Exchange) => boolean;
}

const EVENT = [
  'eventId',
  'runId',
  'type',
  'sequence',
  'timestamp',
  'payload',
  'nodeId',
  'causationId',
  'schemaVersion',
  'engineVersion',
];

const FIXED: readonly Fixed[] = [
  {
    requirement: 'operations.runs.create',
    operation: /^POST \/runs$/,
    members: [['runId'], ['eventsUrl'], ['statusUrl']],
  },
  {
    requirement: 'operations.runs.read',
    operation: /^GET \/runs\/\{runId\}$/,
    members: [
      ['runId'],
      ['workflowId'],
      ['tags'],
      ['metadata'],
      ['parentRunId'],
      ['currentNodeId'],
      ['error'],
      ['configurable'],
    ],
  },
  {
    requirement: 'runs.life.transitions',
    operation: /^GET \/runs\/\{runId\}$/,
    members: [['status']],
    applies: ({ said }) => ENDED.includes(String(member(said.body, 'status'))),
  },
  { requirement: 'runs.owner.recorded', operation: /^GET \/runs\/\{runId\}$/, members: [['owner']] },
  { requirement: 'auth.tenancy.mode-marked', operation: /^GET \/runs\/\{runId\}$/, members: [['mode']] },
  {
    requirement: 'operations.runs.values',
    operation: /^GET \/runs\/\{runId\}$/,
    members: [['variables'], ['nodeStates']],
  },
  {
    requirement: 'versioning.axes.event-log-schema-stamp',
    operation: /^GET \/runs\/\{runId\}$/,
    members: [['eventLogSchemaVersion']],
  },
  {
    requirement: 'operations.runs.list',
    operation: /^GET \/runs$/,
    members: ['runId', 'workflowId', 'owner', 'mode', 'tags', 'metadata', 'eventLogSchemaVersion'].map((name) => [
      'runs',
      '*',
      name,
    ]),
  },
  {
    requirement: 'events.poll.body',
    operation: /\/events\/poll$/,
    members: [
      ...EVENT.map((name) => ['events', '*', name]),
      ['runId'],
      ['lastSequence'],
      ['isComplete'],
      ['isTerminal'],
    ],
  },
  {
    requirement: 'webhooks.body.event-verbatim',
    operation: /^delivery$/,
    members: EVENT.map((name) => ['event', name]),
  },
  { requirement: 'webhooks.body.workspace-never-tenant', operation: /^delivery$/, members: [['workspaceId']] },
  { requirement: 'operations.runs.cancel-in-time', operation: /\/cancel$/, members: [['runId']] },
  { requirement: 'operations.runs.v1-cancel-ended', operation: /\/cancel$/, members: [['alreadyTerminal']] },
  {
    requirement: 'operations.runs.bulk-cancel',
    operation: /:bulk-cancel$/,
    members: [
      ['results', '*', 'runId'],
      ['results', '*', 'ok'],
      ['results', '*', 'error', 'error'],
    ],
  },
  { requirement: 'operations.runs.pause', operation: /:pause$/, members: [['runId'], ['status']] },
  { requirement: 'operations.runs.resume', operation: /:resume$/, members: [['runId'], ['status']] },
  {
    requirement: 'operations.forks.replay',
    operation: /:fork$/,
    members: [['runId'], ['sourceRunId'], ['mode'], ['fromSeq'], ['eventsUrl']],
  },
  {
    requirement: 'operations.annotations.stored',
    operation: /\/annotations$/,
    members: [
      ...[
        'annotationId',
        'runId',
        'target',
        'signal',
        'value',
        'rating',
        'label',
        'correction',
        'flag',
        'text',
        'nodeId',
        'eventId',
      ].flatMap((name) => [[name], ['annotations', '*', name]]),
    ],
  },
  {
    requirement: 'operations.workflows.read',
    operation: /\/workflows\/\{/,
    members: [['workflowId'], ['id'], ['nodes']],
  },
  { requirement: 'webhooks.headers.values', operation: /^POST \/webhooks$/, members: [['webhookId']] },
  { requirement: 'webhooks.signature.key', operation: /^POST \/webhooks$/, members: [['secret']] },
  { requirement: 'webhooks.secret.fingerprint-form', operation: /^POST \/webhooks$/, members: [['secretFingerprint']] },
  {
    requirement: 'webhooks.dead-letters.listed',
    operation: /\/dead-letters$/,
    members: ['webhookId', 'runId', 'eventId', 'eventType', 'attempts', 'reason', 'lastStatus'].map((name) => [
      'deliveries',
      '*',
      name,
    ]),
  },
  {
    requirement: 'operations.audit.verify',
    operation: /\/audit\/verify$/,
    members: [['fromSeq'], ['toSeq'], ['chainValid'], ['anomalies']],
  },
  {
    requirement: 'operations.effects.read',
    operation: /\/effects$/,
    members: [['runId'], ...['effectId', 'nodeId', 'attempt', 'state'].map((name) => ['effects', '*', name])],
  },
  {
    requirement: 'operations.files.operations',
    operation: /\/workspace\/files/,
    members: [['path'], ['content'], ['version'], ['etag']],
  },
  {
    requirement: 'versioning.advertisement.lists-all',
    operation: /^GET \/\.well-known\/svc$/,
    members: [['protocolVersions'], ['preferredVersion'], ['protocolVersion']],
  },
  {
    requirement: 'limits.discovery.values-as-enforced',
    operation: /^GET \/\.well-known\/svc$/,
    members: [['limits', 'maxRequestBodyBytes']],
  },
  {
    requirement: 'operations.routes.required-scope',
    operation: / /,
    members: [['scopeRequired'], ['details', 'scopeRequired']],
    applies: ({ said }) => said.status === 403,
  },
  {
    requirement: 'errors.envelope.fields',
    operation: / /,
    members: [['error']],
    applies: ({ said }) => (said.status ?? 0) >= 400,
  },
  {
    requirement: 'operations.runs.pause-conflict',
    operation: /:(pause|resume)$/,
    members: [['details', 'runStatus']],
    applies: ({ said }) => said.status === 409,
  },
];

/** Returns the requirements that fix a value which a mutation has changed. */
export function falseValues(before: Exchange, after: Exchange): readonly string[] {
  const { operation } = before.kind;
  if (isStream(before.said)) return sameEvents(before, after) ? [] : ['events.stream.frames'];
  const [old, changed] = [jsonIn(before.said.body), jsonIn(after.said.body)];
  return FIXED.filter(({ operation: pattern, applies = isFine }) => pattern.test(operation) && applies(before))
    .filter(({ members }) =>
      members.some((place) => JSON.stringify(valuesAt(old, place)) !== JSON.stringify(valuesAt(changed, place))),
    )
    .map(({ requirement }) => requirement);
}

const ENDED = ['completed', 'failed', 'cancelled'];

function isFine({ said, kind }: Exchange): boolean {
  return kind.operation === DELIVERY || (said.status ?? 0) < 300;
}

/** The events of a stream are those of the log: none is missing, repeated or changed in a member that the log fixes. */
function sameEvents(before: Exchange, after: Exchange): boolean {
  const shown = ({ said }: Exchange) =>
    framesIn(said.body)
      .filter(isEvent)
      .map((frame) => {
        const event = jsonIn(fieldOf(frame, 'data') ?? '');
        const facts = isRecord(event) ? EVENT.map((name) => event[name]) : [event];
        return JSON.stringify([fieldOf(frame, 'id'), fieldOf(frame, 'event'), ...facts]);
      });
  return JSON.stringify(shown(before)) === JSON.stringify(shown(after));
}

function member(body: string, name: string): unknown {
  const value = jsonIn(body);
  return isRecord(value) ? value[name] : undefined;
}
