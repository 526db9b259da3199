import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Exported } from './export-sqlite.ts';
import { rowsFile } from './manifest.ts';

/** Exports the tables of a PostgreSQL database into a folder, one file each, as of one moment. */
export async function exportPostgres(url: string, folder: string): Promise<Exported> {
  const { inspectPostgres } = await import('@svc/host-kit/stores/postgres');
  const inspection = await inspectPostgres({ url });
  try {
    const tables = [];
    for (const table of await inspection.tables()) {
      const counter = new RowCounter();
      await pipeline(
        inspection.rowsOf(table),
        (rows: AsyncIterable<Uint8Array>) => counter.counted(rows),
        createWriteStream(join(folder, rowsFile(table.name)), { mode: 0o600, flags: 'wx', flush: true }),
      );
      tables.push({ name: table.name, columns: [...table.columns], rows: counter.rows });
    }
    const sequences = await inspection.sequences();
    const names = tables.map(({ name }) => rowsFile(name));
    return { inspection, names, database: { store: 'postgres', tables, sequences } };
  } catch (error) {
    await inspection.close();
    throw error;
  }
}

/** Counts rows in the text format of COPY: a line break within a value is escaped. */
class RowCounter {
  rows = 0;

  async *counted(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of pieces) {
      for (let at = piece.indexOf(LINE_BREAK); at !== -1; at = piece.indexOf(LINE_BREAK, at + 1)) this.rows += 1;
      yield piece;
    }
  }
}

const LINE_BREAK = 10;
