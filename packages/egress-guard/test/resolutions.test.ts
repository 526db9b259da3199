import { afterEach, describe, expect, test } from 'vitest';
import { Deadline } from '../src/node/deadline.ts';
import { Resolutions } from '../src/node/resolutions.ts';

/** A resolver whose answers the test gives. */
function manual() {
  const asked: { readonly name: string; readonly signal: AbortSignal; answer(...answers: string[]): void }[] = [];
  const resolver = {
    resolve: (name: string, { signal }: { readonly signal: AbortSignal }) =>
      new Promise<readonly string[]>((resolve) => void asked.push({ name, signal, answer: (...all) => resolve(all) })),
  };
  return { asked, resolutions: new Resolutions(resolver) };
}

const deadlines: Deadline[] = [];
// A deadline that passed later would reject a call that no test awaits.
afterEach(() => {
  for (const each of deadlines.splice(0)) each.close();
});

function deadline(): Deadline {
  const made = new Deadline(60_000, undefined);
  deadlines.push(made);
  return made;
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

describe('calls for a name', () => {
  test('share the query that began in the same turn', async () => {
    const { asked, resolutions } = manual();
    const calls = ['a.example', 'a.example', 'b.example'].map((name) => resolutions.resolve(name, deadline()));
    expect(asked.map(({ name }) => name)).toEqual(['a.example', 'b.example']);
    asked[0]?.answer('9.9.9.1');
    asked[1]?.answer('9.9.9.2');
    expect(await Promise.all(calls)).toEqual([['9.9.9.1'], ['9.9.9.1'], ['9.9.9.2']]);
  });

  test('have a query of their own in a later turn, although the earlier one is under way', async () => {
    const { asked, resolutions } = manual();
    const first = resolutions.resolve('a.example', deadline());
    await nextTurn();
    const second = resolutions.resolve('a.example', deadline());
    asked[1]?.answer('9.9.9.2');
    asked[0]?.answer('9.9.9.1');
    expect([await first, await second]).toEqual([['9.9.9.1'], ['9.9.9.2']]);
  });

  test('have a query of their own after the answer, in the same turn as well', async () => {
    const { asked, resolutions } = manual();
    const first = resolutions.resolve('a.example', deadline());
    asked[0]?.answer('9.9.9.1');
    await first;
    void resolutions.resolve('a.example', deadline());
    expect(asked).toHaveLength(2);
  });

  test('end alone; the query ends with the last of them', async () => {
    const { asked, resolutions } = manual();
    const [one, other] = [deadline(), deadline()];
    const calls = [resolutions.resolve('a.example', one), resolutions.resolve('a.example', other)];
    one.cancel();
    await expect(calls[0]).rejects.toMatchObject({ code: 'aborted' });
    expect(asked[0]?.signal.aborted).toBe(false);
    other.cancel();
    await expect(calls[1]).rejects.toMatchObject({ code: 'aborted' });
    expect(asked[0]?.signal.aborted).toBe(true);
    void resolutions.resolve('a.example', deadline());
    expect(asked).toHaveLength(2);
  });

  test('fail with their query', async () => {
    const resolutions = new Resolutions({ resolve: () => Promise.reject(new Error('SERVFAIL')) });
    const calls = [1, 2].map(() => resolutions.resolve('a.example', deadline()));
    for (const call of calls) await expect(call).rejects.toThrow('SERVFAIL');
  });
});
