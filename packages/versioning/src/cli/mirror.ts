import { parseArgs } from 'node:util';
import { HOST_HELP, HOST_OPTIONS, hostReader, type Members, plainText } from './host-reader.ts';
import { type Terminal, UsageError } from './terminal.ts';

export const MIRROR_HELP: string = `Usage: svc-versioning mirror --url URL --key-file FILE [--at-least N]

Reads the report of a running host that answers a share of its reads in both majors, and prints the places in which the
answers differ. The report begins at the start of the host, and each host of a store has its own: ask every one.

Options:
  --at-least N     the least number of compared reads, 1 to 999999999 (default 100)
  --json           prints the report as JSON
${HOST_HELP}
Exit code: 0 no difference, 1 differences, 2 wrong usage or a host that does not answer, 3 too few reads were compared.
`;

/** Runs `svc-versioning mirror` and returns the exit code. */
export async function mirrorCommand(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      ...HOST_OPTIONS,
      json: { type: 'boolean', default: false },
      'at-least': { type: 'string', default: '100' },
    },
  });
  if (positionals.length > 0) throw new UsageError('mirror: takes no argument beside its options. Pass --url.');
  if (!/^[1-9][0-9]{0,8}$/.test(values['at-least']))
    throw new UsageError('--at-least: must be a whole number from 1 to 999999999. Pass a number such as 100.');
  const report = await (await hostReader(values, terminal))('mirror');
  const operations = listOf(report, 'operations');
  const differences = listOf(report, 'differences');
  const compared = sumOf(operations, 'compared');
  const different = sumOf(operations, 'different');
  const { stdout } = terminal;
  if (values.json) stdout.write(`${JSON.stringify(report, undefined, 2)}\n`);
  else {
    const lines = [
      ...differences.map(differenceLine),
      ...listOf(report, 'skipped').map(({ reason, reads }) => `${reads} reads were not compared: ${reason}`),
      `${different} of ${compared} compared reads differ.`,
    ];
    stdout.write(`${lines.map(plainText).join('\n')}\n`);
  }
  if (different > 0 || differences.length > 0) return 1;
  return compared < Number(values['at-least']) ? 3 : 0;
}

function differenceLine({ operation, major, pointer, kind, reads, lastAt }: Members): string {
  const place = pointer === '' ? 'the whole answer' : pointer;
  return `${operation}, asked in major ${major}: ${place}: ${kind} (${reads} reads, last ${lastAt})`;
}

/** @throws {UsageError} for an answer of another form: an empty list would tell that nothing differs */
function listOf(report: Members, name: string): readonly Members[] {
  const list = report[name];
  const isList = Array.isArray(list) && list.every((each) => typeof each === 'object' && each !== null);
  if (!isList) throw new UsageError(`--url: the host answered without ${name}. Check that it compares reads.`);
  return list;
}

/** @throws {UsageError} for a count that is none */
function sumOf(list: readonly Members[], name: string): number {
  const counts = list.map((each) => each[name]);
  if (!counts.every((count) => typeof count === 'number' && Number.isSafeInteger(count) && count >= 0))
    throw new UsageError(`--url: the host answered with a count ${name} that is no whole number. Check --url.`);
  return counts.reduce<number>((sum, count) => sum + Number(count), 0);
}
