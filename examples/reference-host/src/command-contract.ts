/** A command of `svc-host`. */
export interface Command {
  /** Its arguments, for the help. */
  readonly usage: string;
  /** One sentence for the help. */
  readonly summary: string;
  /** Runs the command, and returns its exit code: 0, 1 for a failure, 2 for wrong usage and a bad configuration. */
  run(args: readonly string[]): Promise<number>;
}
