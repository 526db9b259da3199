import type { Fault } from '../fault.ts';
import { type Meddler, textIn } from '../faulty-proxy.ts';
import {
  asking,
  DISCOVERY,
  instead,
  type Json,
  json,
  make,
  mistaking,
  POLL,
  refusal,
  sending,
  set,
  status,
} from '../meddlers.ts';

const REGISTER = /^POST (\/v1)?\/trigger-subscriptions$/;
const LETTERS = /^GET (\/v1)?\/trigger-subscriptions\/[^/]+\/dead-letters/;
const INGEST = /^POST \/host\/example\/ingest\//;
const OPERATORS = / (\/v1)?\/host\/example\/triggers/;
const LIST = /^GET (\/v1)?\/host\/example\/triggers(\?|$)/;
const READ = /^GET (\/v1)?\/host\/example\/triggers\/[^/?]+$/;
const EDIT = /^PATCH (\/v1)?\/host\/example\/triggers\//;
const REMOVE = /^DELETE (\/v1)?\/host\/example\/triggers\//;
const PAUSE = /^POST (\/v1)?\/host\/example\/triggers\/[^/]+\/pause$/;
const TRY = /^POST (\/v1)?\/host\/example\/triggers\/[^/]+\/try$/;
const MESSAGES = /^GET (\/v1)?\/host\/example\/triggers\/[^/]+\/messages/;

const on = 'triggers';

/** Faults of triggers. */
export const triggerFaults: readonly Fault[] = [
  {
    fault: 'answers 400 for the registration of a trigger that it does not advertise',
    breaks: ['triggers.unadvertised'],
    host: status(REGISTER, [404, 501], 400, 'validation_error'),
  },
  {
    fault: 'serves the dead letters of triggers that it does not advertise',
    breaks: ['triggers.unadvertised'],
    host: instead(LETTERS, 200, { deliveries: [] }),
  },
  {
    on,
    fault: 'does not name the sources of triggers',
    breaks: ['triggers.discovery'],
    host: json(DISCOVERY, set('triggerBridge.sources', undefined)),
  },
  {
    on,
    fault: 'does not show the secret that it generated for a trigger',
    breaks: ['triggers.registered'],
    host: json(REGISTER, set('secret', undefined)),
  },
  {
    on,
    fault: 'adds a member to the record of a trigger',
    breaks: ['triggers.registered'],
    host: json(REGISTER, set('subscription.mapping', {})),
  },
  {
    on,
    fault: 'accepts code in the mapping of a trigger',
    breaks: ['triggers.bad-body-400'],
    host: sending(
      REGISTER,
      make('mapping', (mapping) =>
        JSON.stringify(mapping ?? '').includes('expression') ? { workflowId: 'conformance-noop' } : mapping,
      ),
    ),
  },
  {
    on,
    fault: 'lets a key without webhooks:manage register and operate triggers',
    breaks: ['triggers.scope', 'triggers.operator-scope'],
    host: mistaking('readOnly', 'main'),
  },
  {
    on,
    fault: 'starts a run of a trigger without a causationId',
    breaks: ['triggers.causation'],
    host: json(POLL, set('events.*.causationId', undefined)),
  },
  {
    on,
    fault: 'starts a run for each repetition of a message',
    breaks: ['triggers.dedup'],
    host: eachAnew(),
  },
  {
    on,
    fault: 'takes a message with a wrong signature',
    breaks: ['triggers.signature-refused'],
    host: status(INGEST, 401, 202),
  },
  {
    on,
    fault: 'stores a message with a wrong signature before it refuses it',
    breaks: ['triggers.signature-refused'],
    host: json(INGEST, (body) => (body.repeated === false ? { ...body, repeated: true } : body)),
  },
  {
    on,
    fault: 'does not list the dead letters of triggers',
    breaks: ['triggers.dead-letter'],
    host: json(LETTERS, set('deliveries', [])),
  },
  {
    on,
    fault: 'shows the content of a dead letter of a trigger',
    breaks: ['triggers.dead-letter'],
    host: json(LETTERS, set('deliveries.*.document', {})),
  },
  {
    on,
    fault: 'shows triggers and their dead letters to other tenants',
    breaks: ['triggers.dead-letters-apart', 'triggers.tenant-apart'],
    host: mistaking('otherTenant', 'main'),
  },
  {
    on,
    fault: 'shows another mapping than the registered one',
    breaks: ['triggers.read'],
    host: json(READ, set('mapping', {})),
  },
  {
    on,
    fault: 'shows the secret of a trigger to its operators',
    breaks: ['triggers.read'],
    host: revealing(),
  },
  {
    on,
    fault: 'lists the first page of triggers alone',
    breaks: ['triggers.listed'],
    host: json(LIST, set('nextAfter', undefined)),
  },
  {
    on,
    fault: 'does not pause a trigger',
    breaks: ['triggers.paused', 'triggers.paused-keeps'],
    host: async (asked, pass) => {
      if (!PAUSE.test(`${asked.method} ${asked.target}`)) return pass(asked);
      const read = await pass({ ...asked, method: 'GET', target: asked.target.replace(/\/pause$/, '') });
      const trigger = JSON.parse(await textIn(read)) as Json;
      return { ...read, body: JSON.stringify({ ...trigger, state: 'paused' }) };
    },
  },
  {
    on,
    fault: 'lets an operator set the state of a trigger',
    breaks: ['triggers.state-not-set'],
    host: asking(EDIT, (asked) => ({ ...asked, body: JSON.stringify({ description: 'Edited.' }) })),
  },
  {
    on,
    fault: 'knows more transitions of a trigger',
    breaks: ['triggers.state-not-set'],
    host: instead(/\/triggers\/[^/]+\/exhaust$/, 200, {}),
  },
  {
    on,
    fault: 'marks a trigger failed after refused messages',
    breaks: ['triggers.refused-keeps-state'],
    host: json(READ, set('state', 'failed')),
  },
  {
    on,
    fault: 'forgets the messages of a paused trigger',
    breaks: ['triggers.paused-keeps'],
    host: json(MESSAGES, set('messages', [])),
  },
  {
    on,
    fault: 'tells another run in a trial of a trigger',
    breaks: ['triggers.trial'],
    host: json(
      TRY,
      make('inputs', (inputs) => (inputs === undefined ? inputs : {})),
    ),
  },
  {
    on,
    fault: 'stores a message that is tried',
    breaks: ['triggers.trial'],
    host: json(MESSAGES, set('messages', [{ deliveryId: 'dlv_tried', outcome: 'delivered' }])),
  },
  {
    on,
    fault: 'does not delete a trigger',
    breaks: ['triggers.deleted'],
    host: keeping(),
  },
  {
    on,
    fault: 'shows triggers to keys of another workspace',
    breaks: ['triggers.workspace-apart'],
    host: mistaking('otherWorkspace', 'main', OPERATORS),
  },
  {
    on,
    fault: 'shows live triggers to test keys',
    breaks: ['triggers.test-live-apart'],
    host: mistaking('test', 'main', OPERATORS),
  },
];

/** Answers the removal of a trigger without removing it. */
function keeping(): Meddler {
  return async (asked, pass) =>
    REMOVE.test(`${asked.method} ${asked.target}`) ? refusal(204, {}, asked) : pass(asked);
}

/** Answers each repetition of a message with a run of its own. */
function eachAnew(): Meddler {
  let repetitions = 0;
  return json(INGEST, (body) =>
    body.repeated === true ? { ...body, repeated: false, runId: `${body.runId}${repetitions++}` } : body,
  );
}

/** Shows the secrets of registrations to each reader. */
function revealing(): Meddler {
  const secrets: unknown[] = [];
  const noting = asking(REGISTER, (asked) => {
    secrets.push(JSON.parse(asked.body).secret);
    return asked;
  });
  const showing = json(READ, (body) => ({ ...body, secrets }));
  return (asked, pass, sign) => noting(asked, (next) => showing(next, pass, sign), sign);
}
