import type { TaskPushNotificationConfig } from '@a2a-js/sdk';
import { V03PushNotificationSerializer } from '@a2a-js/sdk/compat/v0_3/server';
import { RequestMalformedError } from '@a2a-js/sdk/errors';
import { type PushNotificationSerializer, V1PushNotificationSerializer } from '@a2a-js/sdk/server';
import { z } from 'zod';
import { fieldProblems } from '../../field-problems.ts';
import { isJsonObject, type JsonObject } from '../../json.ts';
import type { RunEvent } from '../../ports/events.ts';
import type { Run } from '../../ports/runs.ts';
import type { PushFormat, PushFormats } from '../../webhooks/push-format.ts';
import { questionBody } from '../../wire/interrupt-event.ts';
import type { MountCaller } from '../caller-runs.ts';
import type { MountServices } from '../mount.ts';
import type { A2aVersion } from './agent-card.ts';
import { outputsArtifact, STATE_EVENTS, taskOf } from './task.ts';

/**
 * The push notification configurations of tasks: the URLs that receive each change of a task. Every method requires the
 * scope `webhooks:manage`, like every other registration of a URL.
 */
export interface PushConfigs {
  /**
   * Adds a configuration. It replaces one with the same id; the default id is the id of the run.
   *
   * @throws {RequestMalformedError} when a field is not valid, e.g. a token that cannot be sent in a header
   * @throws {HostError} `webhook_url_rejected` when the egress rules reject the URL
   */
  create(caller: MountCaller, run: Run, config: TaskPushNotificationConfig): Promise<TaskPushNotificationConfig>;
  /** Lists the configurations of a run. Their tokens and credentials are left out: they are never shown again. */
  list(caller: MountCaller, run: Run): Promise<TaskPushNotificationConfig[]>;
  /** Removes the configuration with this id, if there is one. */
  remove(caller: MountCaller, run: Run, id: string): Promise<void>;
}

/** @param version the version of the protocol in which new configurations are pushed */
export function pushConfigs({ pushes }: Pick<MountServices, 'pushes'>, version: A2aVersion): PushConfigs {
  return {
    async create(caller, run, given) {
      const principal = await caller.permit('webhooks:manage');
      const checked = CONFIG.safeParse(given);
      if (!checked.success) throw malformed(given, checked.error);
      const { id, url, token, authentication } = checked.data;
      const name = id === '' ? run.runId : id;
      const secret = JSON.stringify({ token, authentication });
      await pushes.add(principal, run, { name, url, format: FORMAT[version], events: STATE_EVENTS, secret });
      return { ...given, id: name, taskId: run.runId, tenant: '' };
    },
    async list(caller, run) {
      const principal = await caller.permit('webhooks:manage');
      const found = await pushes.list(principal, run);
      return found.flatMap(({ url, push }) =>
        push === undefined
          ? []
          : [{ id: push.name, taskId: run.runId, url, token: '', authentication: undefined, tenant: '' }],
      );
    },
    async remove(caller, run, id) {
      await pushes.remove(await caller.permit('webhooks:manage'), run, id);
    },
  };
}

const FORMAT = { '1.0': 'a2a/1.0', '0.3': 'a2a/0.3' } as const satisfies Record<A2aVersion, string>;

function malformed(given: unknown, error: z.ZodError): RequestMalformedError {
  const root = 'pushNotificationConfig';
  const [first = { field: root, problem: 'is not valid' }] = fieldProblems(CONFIG, given, error, { root });
  return new RequestMalformedError(`${first.field}: ${first.problem}.`);
}

const printable = z.string().regex(/^[\x20-\x7e]*$/, 'must be printable ASCII');
const CONFIG = z.object({
  id: z
    .string()
    .regex(/^[A-Za-z0-9._~-]{0,128}$/, 'must have at most 128 characters, each a letter, a digit or one of . _ ~ -'),
  url: z.string().min(1).max(2048),
  token: printable.max(4096),
  authentication: z
    .object({
      scheme: z
        .string()
        .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$/, 'must be an HTTP token of at most 64 characters, e.g. Bearer'),
      credentials: printable.max(8192),
    })
    .optional(),
});
const SECRET = CONFIG.pick({ token: true, authentication: true });

/** A push has the whole task in its current state, in the protocol version of the configuration. */
export const A2A_PUSH_FORMATS: PushFormats = new Map([
  [FORMAT['1.0'], format(new V1PushNotificationSerializer(), 'application/a2a+json')],
  [FORMAT['0.3'], format(new V03PushNotificationSerializer(), 'application/json')],
]);

function format(serializer: PushNotificationSerializer, contentType: string): PushFormat {
  return {
    render(run, event) {
      const value = taskOf(run, { last: event, question: questionIn(event), artifacts: outputsArtifact(event) });
      return encoder.encode(serializer.serialize({ payload: { $case: 'task', value } }, value).body);
    },
    headers(secret) {
      const { token, authentication } = SECRET.parse(JSON.parse(secret));
      return {
        'content-type': contentType,
        ...(token !== '' && { 'x-a2a-notification-token': token }),
        ...(authentication !== undefined && {
          authorization: `${authentication.scheme} ${authentication.credentials}`,
        }),
      };
    },
  };
}

/** A push is made in the transaction of its event, so the question is read from the event. */
function questionIn({ type, payload }: RunEvent): JsonObject | undefined {
  return type === 'interrupt.requested' && isJsonObject(payload) ? questionBody(2, payload) : undefined;
}

const encoder = new TextEncoder();
