import { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Network } from '../src/node/network.ts';
import { type GuardedPost, guardedPost } from '../src/node/post.ts';
import { Internet } from './internet.ts';

let internet: Internet;
let post: GuardedPost | undefined;
beforeEach(() => {
  internet = new Internet();
});
afterEach(async () => {
  post?.close();
  await internet.close();
});

/** Calls a name whose silent addresses never answer, as on a network that drops packets. */
async function call(answers: readonly string[], isSilent: (address: string) => boolean, timeoutMs = 20_000) {
  const port = await internet.secure((_request, response) => response.end());
  internet.names.set('hooks.example', answers);
  const { network, ...options } = internet.options();
  const silent: Socket[] = [];
  const dialled: string[] = [];
  let most = 0;
  const guarded: Network = {
    connect: (address, to) => {
      dialled.push(address);
      if (!isSilent(address)) return network?.connect(address, to) ?? new Socket();
      silent.push(new Socket());
      most = Math.max(most, silent.filter(({ destroyed }) => !destroyed).length);
      return silent.at(-1) ?? new Socket();
    },
    peerOf: (socket) => network?.peerOf(socket),
  };
  post = guardedPost({ ...options, network: guarded });
  const verdict = await post({ url: `https://hooks.example:${port}/`, headers: {}, body: '{}', timeoutMs });
  return { verdict, dialled, silent, most };
}

describe('several judged addresses', () => {
  test('are tried in turns of their families, the first answer first', async () => {
    const answers = ['9.9.9.8', '9.9.9.7', '2606:4700::1', '2606:4700::2', '9.9.9.1'];
    // A failed attempt is followed by the next one at once: nothing listens at the other addresses.
    const { verdict, dialled } = await call(answers, () => false);
    expect(verdict).toMatchObject({ kind: 'answered' });
    expect(dialled).toEqual(['9.9.9.8', '2606:4700:0:0:0:0:0:1', '9.9.9.7', '2606:4700:0:0:0:0:0:2', '9.9.9.1']);
  });

  test('are tried beside a silent one, which ends with the first that accepts', async () => {
    const { verdict, silent } = await call(['2606:4700::1', '9.9.9.1'], (address) => address.includes(':'));
    expect(verdict).toMatchObject({ kind: 'answered' });
    expect(silent.map(({ destroyed }) => destroyed)).toEqual([true]);
  });

  test('are tried four at a time at most', async () => {
    const answers = [...Array.from({ length: 6 }, (_, index) => `8.8.8.${index}`), '9.9.9.1'];
    const { verdict, dialled, silent, most } = await call(answers, (address) => address.startsWith('8.'));
    expect(verdict).toMatchObject({ kind: 'answered' });
    expect(dialled).toEqual(answers);
    expect(most).toBeLessThanOrEqual(4);
    expect(silent.every(({ destroyed }) => destroyed)).toBe(true);
  });

  test('are all left when the deadline passes', async () => {
    const { verdict, silent } = await call(['8.8.8.1', '8.8.8.2', '8.8.8.3'], () => true, 700);
    expect(verdict).toMatchObject({ kind: 'failed', reason: 'timeout' });
    await vi.waitFor(() => expect(silent.every(({ destroyed }) => destroyed)).toBe(true), { timeout: 60_000 });
  });

  test('are not dialled when one of them is denied', async () => {
    const { verdict, dialled } = await call(['9.9.9.1', '10.0.0.1'], () => false);
    expect(verdict).toMatchObject({ kind: 'denied', reason: 'private' });
    expect(dialled).toEqual([]);
  });
});
