import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { requireKeys } from '../../src/host/require-keys.ts';
import { reseal } from '../../src/host/reseal.ts';
import { secretBox } from '../../src/sealing/secret-box.ts';
import { memoryStore } from '../../src/stores/memory/index.ts';
import { triggerHost } from './trigger-host.ts';

test('the secret of a trigger moves to the new key, and a host without its key does not start', async () => {
  const store = memoryStore();
  const [former, current] = [new Uint8Array(32), randomBytes(32)];
  const log = () => {};
  const before = await triggerHost({ store });
  const { triggerId } = await before.register();
  await before.host.stop(0);

  const stranger = secretBox(randomBytes(32), randomBytes);
  await expect(requireKeys({ store, secrets: stranger, log })).rejects.toThrow('secretKey');
  const during = secretBox(current, randomBytes, [former]);
  await reseal({ store, secrets: during, log })(new AbortController().signal);

  const after = await triggerHost({ store, more: { secretKey: current } });
  expect((await after.send(triggerId, { order: 1 })).body.outcome).toBe('delivered');
  await after.host.stop(0);
});
