// A host on PostgreSQL whose runs DBOS executes, or Restate.
import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { dbosEngine } from '@svc/engine-dbos';
import { restateEngine } from '@svc/engine-restate';
import { createHost } from '@svc/host-kit';
import { stepsEngine } from '@svc/host-kit/engine/steps';
import { postgresStore } from '@svc/host-kit/stores/postgres';

const KEY = 'key-of-the-suite-engines-0123456789abcdef';
const SCOPES = ['runs:create', 'runs:read', 'runs:cancel', 'approvals:respond', 'artifacts:read'];
const KEYS = [
  {
    ...{ id: 'key_1', hash: hashApiKey(KEY), tenant: 'acme', workspaces: ['acme-prod'] },
    ...{ principal: 'p_1', scopes: SCOPES, mode: 'live' },
  },
];
const WAIT_MS = 120_000;

/** Opens a host. `logged` gets what it and the engine write to their log. `restate`: the options of the engine on Restate. */
export async function openHost({ databaseUrl, workflows, restate, ...others }) {
  const logged = [];
  const log = (record) => logged.push(record);
  const steps = stepsEngine({ workflows });
  const engine =
    restate === undefined
      ? await dbosEngine({ engine: steps, databaseUrl, log, ...others })
      : await restateEngine({ engine: steps, log, ...restate });
  const host = createHost({
    engine,
    store: await postgresStore({ url: databaseUrl }),
    authenticate: [apiKeyLane({ keys: memoryKeyStore(KEYS) })],
    secretKey: new Uint8Array(32),
    ports: { log },
  });
  await host.start();

  async function call(path, sent) {
    const headers = { authorization: `Bearer ${KEY}`, ...(sent && { 'content-type': 'application/json' }) };
    const body = sent && { method: 'POST', body: JSON.stringify(sent) };
    const response = await host.fetch(new Request(`http://host.test${path}`, { headers, ...body }));
    return { status: response.status, body: JSON.parse((await response.text()) || 'null') };
  }

  return {
    ...{ call, engine, logged },
    async start(workflowId, inputs = {}) {
      const { status, body } = await call('/v1/runs', { workflowId, inputs });
      if (status !== 201) throw new Error(`POST /v1/runs: the host answered ${status} ${JSON.stringify(body)}.`);
      return body.runId;
    },
    async comesTo(runId, ...statuses) {
      for (const end = Date.now() + WAIT_MS; Date.now() < end; ) {
        const { body } = await call(`/v1/runs/${runId}`);
        if (statuses.includes(body?.status)) return body;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      throw new Error(`The run ${runId} did not come to ${statuses.join(' or ')} within ${WAIT_MS} ms.`);
    },
    /** Waits until a run has recorded so many events of a type. */
    async records(runId, type, count) {
      for (const end = Date.now() + WAIT_MS; Date.now() < end; ) {
        const { body } = await call(`/v1/runs/${runId}/events/poll?timeout=1`);
        if (body.events.filter((event) => event.type === type).length >= count) return true;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      throw new Error(`The run ${runId} did not record ${count} of ${type} within ${WAIT_MS} ms.`);
    },
    async stop() {
      await host.stop(5000);
      await engine.close();
    },
  };
}
