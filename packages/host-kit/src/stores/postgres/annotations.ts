import type { AnnotationStore } from '../../ports/annotations.ts';
import { annotationColumns, annotationOf } from '../sql/annotations.ts';
import { integer } from '../sql/row.ts';
import type { Database } from './database.ts';

const INSERT = {
  name: 'annotations-insert',
  text: 'INSERT INTO annotations (run_id, annotation_id, document) VALUES ($1, $2, $3)',
};
const COUNT = {
  name: 'annotations-count',
  text: 'SELECT count(*) AS annotations FROM annotations WHERE run_id = $1',
};
const LIST = {
  name: 'annotations-list',
  text: 'SELECT * FROM annotations WHERE run_id = $1 ORDER BY annotation_id LIMIT $2',
};

export function annotationStore(database: Database): AnnotationStore {
  return {
    async insert(annotation, transaction) {
      await database.within(transaction, INSERT, [...annotationColumns(annotation)]);
    },
    async count({ runId }, transaction) {
      const [row] = (await database.within(transaction, COUNT, [runId])).rows;
      return integer(row ?? {}, 'annotations');
    },
    async list({ runId }, limit) {
      return (await database.query(LIST, [runId, limit])).rows.map(annotationOf);
    },
  };
}
