import { type HostReader, type Members, plainText } from './host-reader.ts';
import { reportedCallers, reportedDays } from './reported-callers.ts';
import { type Terminal, UsageError } from './terminal.ts';

export interface CallersOfHostOptions {
  readonly read: HostReader;
  /** The first day, such as `2026-01-31`. Undefined: all days that the host keeps. */
  readonly since: string | undefined;
  readonly json: boolean;
}

/** Prints the credentials that a running host has counted under major 1, and returns the exit code. */
export async function callersOfHost(options: CallersOfHostOptions, { stdout }: Terminal): Promise<number> {
  const { read, since, json } = options;
  const query = since === undefined ? {} : { since };
  const { days: counted, isComplete: isEachDay } = await reportedDays(read, query);
  const { callers, isComplete: isEachCaller } = await reportedCallers(read, query);
  const isComplete = isEachDay && isEachCaller;
  const firstDay = typeof counted[0]?.day === 'string' ? counted[0].day : undefined;
  if (callers.length === 0) {
    // A host that has counted nothing tells nothing about its callers.
    if (firstDay === undefined)
      throw new UsageError(
        '--url: the host has counted no request of a known caller in this time. Choose an earlier --since.',
      );
    if (!isComplete)
      throw new UsageError(
        '--url: the host could not count some requests, so major 1 may still be used. Read its log, and start it again.',
      );
  }
  if (json) stdout.write(`${JSON.stringify({ firstDay, isComplete, callers: callers.map(plain) }, undefined, 2)}\n`);
  else stdout.write([...callers.map(lineOf), summaryOf(callers.length, firstDay), ''].join('\n'));
  return callers.length === 0 ? 0 : 1;
}

function summaryOf(callers: number, firstDay: string | undefined): string {
  const since = firstDay === undefined ? '' : ` since ${plainText(firstDay)}, the first day with a request`;
  return `${callers} credentials use major 1${since}.`;
}

function plain({ lane, credential, majors }: Members): object {
  return { lane, credential, majors };
}

function lineOf({ lane, credential, majors }: Members): string {
  const uses: readonly Members[] = Array.isArray(majors) ? majors.map((each) => Object(each)) : [];
  const requests = (major: number) => Number(uses.find((use) => use.major === major)?.requests ?? 0);
  const last = uses.find((use) => use.major === 1)?.lastAt;
  const all = requests(1) + requests(2);
  return plainText(`${lane} ${credential}  ${requests(1)} of ${all} requests, last ${last}`);
}
