import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';

/** The open terminals, which are killed at the exit of this process. */
const open = new Set();
process.on('exit', () => {
  for (const terminal of open) terminal.kill();
});

/**
 * A command in a process group of its own, with its output.
 *
 * @example
 * const terminal = new Terminal('bash', ['-e', 'script.sh'], { cwd: folder });
 * const { code, output } = await terminal.end(20_000);
 */
export class Terminal {
  #child;
  #closed;
  #output = '';
  #isOver = false;

  /**
   * @param {string} command
   * @param {readonly string[]} args
   * @param {import('node:child_process').SpawnOptions} options
   */
  constructor(command, args, options) {
    this.#child = spawn(command, args, { ...options, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    open.add(this);
    const take = (text) => {
      this.#output += text;
      this.#child.emit('output');
    };
    for (const stream of [this.#child.stdout, this.#child.stderr]) stream.setEncoding('utf8').on('data', take);
    this.#child.once('error', (error) => take(`${error.message}\n`));
    // Programs that the command leaves behind would keep its streams open.
    this.#child.once('exit', () => this.kill());
    this.#closed = once(this.#child, 'close').finally(() => {
      this.#isOver = true;
      open.delete(this);
    });
    // A command that cannot be started is reported by `end`, not as an unhandled rejection.
    this.#closed.catch(() => {});
  }

  /** Everything that it has printed so far, both streams in one. */
  get output() {
    return this.#output;
  }

  /** True when it has ended. */
  get isOver() {
    return this.#isOver;
  }

  /**
   * Waits for the end.
   *
   * @param {number} limitMs after which the command is killed
   * @returns {Promise<{ code: number | undefined, output: string }>} no code when it was killed or could not be started
   */
  async end(limitMs) {
    const timer = setTimeout(() => this.kill(), limitMs);
    const [code] = await this.#closed.catch(() => []);
    clearTimeout(timer);
    return { code: code ?? undefined, output: this.#output };
  }

  /**
   * Waits until `isShown` accepts the output.
   *
   * @param {(output: string) => boolean} isShown
   * @param {number} limitMs
   * @returns {Promise<boolean>} false when the limit passed or the command ended before
   */
  async shows(isShown, limitMs) {
    const limit = new AbortController();
    const over = Promise.race([this.#closed.catch(() => {}), delay(limitMs, undefined, { signal: limit.signal })]).then(
      () => true,
    );
    try {
      for (;;) {
        if (isShown(this.#output)) return true;
        const isOver = await Promise.race([
          over,
          once(this.#child, 'output', { signal: limit.signal }).then(() => false),
        ]);
        if (isOver) return isShown(this.#output);
      }
    } finally {
      limit.abort();
      over.catch(() => {});
    }
  }

  /** Ends the command and everything that it started. */
  kill() {
    this.signal('SIGKILL');
  }

  /**
   * Sends a signal to the command and everything that it started, as a terminal does.
   *
   * @param {NodeJS.Signals} name
   */
  signal(name) {
    try {
      if (this.#child.pid !== undefined) process.kill(-this.#child.pid, name);
    } catch (error) {
      if (error.code !== 'ESRCH') throw error;
    }
  }
}
