import type { Log } from '@svc/host-kit';
import { jsonLines } from '@svc/host-kit/node';

/** Writes the log to stderr. A log whose reader is gone or whose disk is full loses records, and ends nothing. */
export const { log: LOG }: { readonly log: Log } = jsonLines(process.stderr);

/** Lets the process go on when the reader of stdout is gone. That of stderr is the log's concern. */
export function survive(): void {
  process.stdout.on('error', () => {});
}

/** Writes one line to stderr. */
export function complain(problem: string): void {
  process.stderr.write(`${problem}\n`);
}
