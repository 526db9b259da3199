import { Redactor } from '../../packages/host-kit/src/execution/redactor.ts';
import { printTable } from '../table.mjs';

/** The most processor time for an event of a megabyte, in ms. */
const GOAL_MS = 200;
const ROUNDS = 5;
const LENGTH = 1_000_000;

/** Measures the processor time of the redaction of an event of a megabyte, with two known secrets. All of it is on the main thread. */
export default function redaction() {
  const redactor = new Redactor();
  redactor.add('api-key', 'sk-live-0123456789abcdef');
  redactor.add('database', 'postgres://user:p%40ss@db.example/app?a=1&b=2');
  const found = Object.entries(events()).map(([kind, payload]) => {
    const rounds = Array.from({ length: ROUNDS }, () => {
      const begin = process.cpuUsage();
      redactor.redacted({ payload });
      const { user, system } = process.cpuUsage(begin);
      return (user + system) / 1000;
    });
    return { kind, ms: rounds.toSorted((one, other) => one - other)[Math.floor(ROUNDS / 2)] };
  });
  printTable(
    ['redaction of 1 MB', 'ms', 'of the goal'],
    found.map(({ kind, ms }) => [kind, ms.toFixed(0), (ms / GOAL_MS).toFixed(2)]),
  );
  return { goal: GOAL_MS, found };
}

/** Payloads of the same length that make the redactor look at different things. */
function events() {
  const prose = 'the quick brown fox jumps over a lazy dog, and then runs to the river. '.repeat(LENGTH / 70);
  const bytes = Uint8Array.from({ length: LENGTH }, (_, at) => Math.imul(at, 2_654_435_761) >>> 24);
  const base64 = (text, length = LENGTH * 0.75) => Buffer.from(text).subarray(0, length).toString('base64');
  const rows = Array.from({ length: LENGTH / 50 }, (_, id) => ({ id, name: `row "${id}"`, tag: `t-${id * 7919}` }));
  return {
    prose,
    'base64 of an image': base64(bytes),
    'base64 of prose': base64(prose),
    'base64 of base64 of base64': base64(base64(base64(prose, LENGTH * 0.42), LENGTH * 0.56)),
    hexadecimal: Buffer.from(bytes)
      .subarray(0, LENGTH / 2)
      .toString('hex'),
    'rows of JSON': rows,
    'JSON in JSON in JSON': JSON.stringify(JSON.stringify(rows)),
    'a URL-encoded text': encodeURIComponent(prose).slice(0, LENGTH),
    numbers: Array.from(bytes.subarray(0, LENGTH / 4)),
  };
}
