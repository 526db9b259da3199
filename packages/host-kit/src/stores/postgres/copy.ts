import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type pg from 'pg';

/**
 * Reads the result of a `COPY … TO STDOUT`, in pieces of up to 64 KiB and a row. A reader that is slower than the
 * database holds it up, so the memory is bounded by the longest row.
 *
 * @throws {Error} when the statement fails, or the server sends nothing for two minutes
 */
export async function* copyOut(client: pg.ClientBase, sql: string): AsyncGenerator<Uint8Array> {
  const copy = client.query(new CopyOut(sql));
  try {
    for (let piece = await copy.next(); piece !== undefined; piece = await copy.next()) yield piece;
  } finally {
    copy.abandon();
  }
}

/**
 * Sends the rows of a `COPY … FROM STDIN`.
 *
 * @returns the number of rows
 * @throws {Error} when the statement or `source` fails, or the server takes nothing for two minutes
 */
export async function copyIn(client: pg.ClientBase, sql: string, source: AsyncIterable<Uint8Array>): Promise<number> {
  return await client.query(new CopyIn(sql, source)).ended;
}

/** The methods of a connection of `pg` that copies need. */
interface CopyConnection {
  readonly stream: Duplex;
  query(text: string): void;
  sendCopyFromChunk(chunk: Uint8Array): void;
  endCopyFrom(): void;
  sendCopyFail(message: string): void;
}

/** The client of `pg` calls these methods while the statement is under way. */
abstract class Copy {
  readonly #sql: string;
  protected stream: Duplex | undefined;

  constructor(sql: string) {
    this.#sql = sql;
  }

  submit(connection: Pick<CopyConnection, 'stream' | 'query'>): void {
    this.stream = connection.stream;
    this.limit(SILENCE_MS);
    connection.query(this.#sql);
  }

  handleRowDescription(): void {}
  handleDataRow(): void {}
  handlePortalSuspended(): void {}
  handleEmptyQuery(): void {}
  handleCommandComplete(_message: { readonly text?: string }): void {}
  abstract handleError(error: Error): void;
  abstract handleReadyForQuery(): void;

  /** Closes the connection when nothing is sent or received for `ms`; 0: never. */
  protected limit(ms: number): void {
    const { stream } = this;
    if (!(stream instanceof Socket)) return;
    stream.removeListener('timeout', this.#onSilence);
    stream.setTimeout(ms);
    if (ms > 0) stream.on('timeout', this.#onSilence);
  }

  readonly #onSilence = (): void => {
    this.stream?.destroy(new Error('The database has sent and taken nothing for two minutes.'));
  };
}

class CopyOut extends Copy {
  #pieces: Uint8Array[] = [];
  #bytes = 0;
  #end: { readonly error?: Error } | undefined;
  #wake = (): void => {};
  #isAbandoned = false;

  /** Resolves with the next piece; undefined at the end. */
  async next(): Promise<Uint8Array | undefined> {
    while (this.#bytes === 0 && this.#end === undefined) {
      this.stream?.resume();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.#end?.error !== undefined) throw this.#end.error;
    if (this.#bytes === 0) return undefined;
    const piece = Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#bytes = 0;
    return piece;
  }

  /** Lets the rest of the result pass, so that the connection can be closed. */
  abandon(): void {
    this.#isAbandoned = true;
    this.stream?.resume();
  }

  handleCopyData({ chunk }: { readonly chunk: Uint8Array }): void {
    if (this.#isAbandoned) return;
    // The parser writes over its buffer.
    this.#pieces.push(Buffer.from(chunk));
    this.#bytes += chunk.byteLength;
    if (this.#bytes < PIECE_BYTES) return;
    this.stream?.pause();
    this.#wake();
  }

  handleError(error: Error): void {
    this.#finish({ error });
  }

  handleReadyForQuery(): void {
    this.#finish({});
  }

  #finish(end: { readonly error?: Error }): void {
    this.limit(0);
    this.#end ??= end;
    this.#wake();
  }
}

class CopyIn extends Copy {
  /** Resolves with the number of rows. */
  readonly ended: Promise<number>;
  readonly #source: AsyncIterable<Uint8Array>;
  #resolve: (rows: number) => void = () => {};
  #reject: (error: Error) => void = () => {};
  #rows = 0;
  #failure: Error | undefined;
  #wake = (): void => {};

  constructor(sql: string, source: AsyncIterable<Uint8Array>) {
    super(sql);
    this.#source = source;
    this.ended = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  handleCopyInResponse(connection: CopyConnection): void {
    this.#send(connection).then(
      () => {
        if (this.#failure !== undefined) return;
        connection.endCopyFrom();
        // Foreign keys are checked now. The time limit of the statement holds.
        this.limit(0);
      },
      (error: unknown) => {
        const first = this.#failure === undefined;
        this.#failure ??= error instanceof Error ? error : new Error('The rows could not be read.', { cause: error });
        if (first) connection.sendCopyFail('the rows could not be read');
      },
    );
  }

  override handleCommandComplete({ text = '' }: { readonly text?: string }): void {
    this.#rows = Number(/^COPY (\d+)$/.exec(text)?.[1] ?? 0);
  }

  handleError(error: Error): void {
    this.limit(0);
    this.#failure ??= error;
    this.#wake();
    this.#reject(this.#failure);
  }

  handleReadyForQuery(): void {
    this.limit(0);
    if (this.#failure === undefined) this.#resolve(this.#rows);
    else this.#reject(this.#failure);
  }

  async #send(connection: CopyConnection): Promise<void> {
    const { stream } = connection;
    const wake = (): void => this.#wake();
    stream.on('drain', wake).on('close', wake);
    try {
      for await (const piece of this.#source) {
        if (this.#failure !== undefined) return;
        // The client of `pg` calls methods that only a Buffer has.
        connection.sendCopyFromChunk(Buffer.from(piece.buffer, piece.byteOffset, piece.length));
        while (stream.writableNeedDrain && !stream.destroyed && this.#failure === undefined) {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        }
      }
    } finally {
      stream.off('drain', wake).off('close', wake);
    }
  }
}

const PIECE_BYTES = 65_536;
const SILENCE_MS = 120_000;
