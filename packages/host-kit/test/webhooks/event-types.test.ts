import { covers } from '@svc/tools/covers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { portalHost } from '../portal/portal-host.ts';
import { echoEngine } from '../triggers/trigger-host.ts';

const OWN = 'acme.order-shipped';

async function withOwnType() {
  const engine = { ...echoEngine(), events: ['run.failed', 'log.appended', OWN] };
  const serving = await portalHost({ engine, ports: { log: () => {} } });
  onTestFinished(() => serving.host.stop(0));
  const { eventTypes } = (await serving.call('owner', 'GET', '/host/example/event-types')).body;
  return { ...serving, eventTypes: eventTypes as readonly Entry[] };
}

interface Entry {
  readonly type: string;
  readonly typeInMajor1: string;
}

describe(covers('webhooks.event-types.catalogue'), () => {
  test('has the types that the engine declares, spelt alike in both majors', async () => {
    const { eventTypes } = await withOwnType();
    expect(eventTypes.filter(({ type }) => type === OWN)).toEqual([
      {
        ...{ type: OWN, typeInMajor1: OWN },
        description: 'An event of the engine of this host, which defines its payload.',
      },
    ]);
  });

  test('takes any payload of such a type, and has an empty example of it', async () => {
    const { call } = await withOwnType();
    const detail = (type: string) => call('owner', 'GET', `/host/example/event-types/${type}`);
    expect(await detail(OWN)).toMatchObject({
      status: 200,
      body: { type: OWN, typeInMajor1: OWN, schema: {}, example: {} },
    });
    expect((await detail('acme.order-lost')).status).toBe(404);
  });

  test('has every type that a subscription can name: each is registered in both majors, and is described', async () => {
    const { call, register, eventTypes } = await withOwnType();
    expect(eventTypes.length).toBeGreaterThan(20);
    const names = eventTypes.map(({ type }) => type);
    expect(new Set(names).size).toBe(names.length);
    const inMajor1 = eventTypes.map(({ typeInMajor1 }) => typeInMajor1);
    expect(await register('owner', inMajor1, 'acme-prod')).toMatch(/^whk_/);
    const body = { url: 'https://93.184.216.34/hooks', events: names };
    expect((await call('operator', 'POST', '/webhooks', body)).status).toBe(201);
    for (const type of [...names, ...inMajor1])
      expect((await call('owner', 'GET', `/host/example/event-types/${type}`)).status).toBe(200);
  });

  test('shows a portal session the types of the session alone', async () => {
    const { open } = await withOwnType();
    const typesOf = async (eventTypes?: readonly string[]) => {
      const { portal } = await open('owner', { ...(eventTypes !== undefined && { eventTypes }) });
      return (await portal('GET', '/event-types')).body.eventTypes.map(({ type }: Entry) => type);
    };
    expect(await typesOf()).toContain(OWN);
    expect(await typesOf([OWN])).toEqual([OWN]);
    expect(await typesOf(['run.failed'])).toEqual(['run.failed']);
  });
});
