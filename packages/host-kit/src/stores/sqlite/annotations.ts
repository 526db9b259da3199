import type { DatabaseSync } from 'node:sqlite';
import type { AnnotationStore } from '../../ports/annotations.ts';
import { annotationColumns, annotationOf } from '../sql/annotations.ts';
import { integer } from '../sql/row.ts';
import type { Writer } from './writer.ts';

const INSERT = 'INSERT INTO annotations (run_id, annotation_id, document) VALUES (?, ?, ?)';
const COUNT = 'SELECT count(*) AS annotations FROM annotations WHERE run_id = ?';
const LIST = 'SELECT * FROM annotations WHERE run_id = ? ORDER BY annotation_id LIMIT ?';

export function annotationStore(reader: DatabaseSync, database: DatabaseSync, writer: Writer): AnnotationStore {
  const insert = database.prepare(INSERT);
  const count = database.prepare(COUNT);
  const list = reader.prepare(LIST);

  return {
    async insert(annotation, transaction) {
      writer.require(transaction);
      insert.run(...annotationColumns(annotation));
    },
    async count({ runId }, transaction) {
      writer.require(transaction);
      return integer(count.get(runId) ?? {}, 'annotations');
    },
    list: async ({ runId }, limit) => list.all(runId, limit).map(annotationOf),
  };
}
