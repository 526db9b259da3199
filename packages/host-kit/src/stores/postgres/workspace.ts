import type { WorkspaceStore } from '../../ports/workspace.ts';
import { integer } from '../sql/row.ts';
import { afterPrefix, fileHeadOf, fileOf, newestOf, placeColumns } from '../sql/workspace.ts';
import type { Database } from './database.ts';

const PLACE = 'tenant = $1 AND workspace = $2 AND mode = $3';
const FILE = `${PLACE} AND path = $4`;
const LIST = {
  name: 'workspace-list',
  text: `SELECT path, version, etag, content_type, updated_at FROM workspace_files
    WHERE ${PLACE} AND path >= $4 AND path < $5 AND newest AND etag IS NOT NULL ORDER BY path`,
};
const READ = {
  name: 'workspace-read',
  text: `SELECT * FROM workspace_files WHERE ${FILE} AND newest AND etag IS NOT NULL`,
};
const READ_VERSION = {
  name: 'workspace-read-version',
  text: `SELECT * FROM workspace_files WHERE ${FILE} AND version = $5 AND etag IS NOT NULL`,
};
// Changes of one place wait for each other: otherwise two could give the same version, or exceed the maximum of files
// together.
const LOCK = {
  name: 'workspace-lock',
  text: `SELECT pg_advisory_xact_lock(hashtext('svc workspace ' || $1 || ' ' || $2 || ' ' || $3))`,
};
const NEWEST = { name: 'workspace-newest', text: `SELECT version, etag FROM workspace_files WHERE ${FILE} AND newest` };
const COUNT = {
  name: 'workspace-count',
  text: `SELECT count(*) AS count FROM workspace_files WHERE ${PLACE} AND newest AND etag IS NOT NULL`,
};
const AGE = { name: 'workspace-age', text: `UPDATE workspace_files SET newest = false WHERE ${FILE} AND newest` };
const INSERT = {
  name: 'workspace-insert',
  text: `INSERT INTO workspace_files
    (tenant, workspace, mode, path, version, newest, etag, content_type, content, updated_at)
    VALUES ($1, $2, $3, $4, $5, true, $6, $7, $8, $9)`,
};
const FORGET = { name: 'workspace-forget', text: `DELETE FROM workspace_files WHERE ${FILE} AND version <= $5` };
const FORGET_REMOVED = {
  name: 'workspace-forget-removed',
  text: `DELETE FROM workspace_files WHERE ${PLACE} AND path IN (SELECT path FROM workspace_files
    WHERE ${PLACE} AND newest AND etag IS NULL ORDER BY updated_at DESC, path OFFSET $4)`,
};

export function workspaceStore(database: Database): WorkspaceStore {
  return {
    async list(place, prefix) {
      const values = [...placeColumns(place), prefix, afterPrefix(prefix)];
      return (await database.query(LIST, values)).rows.map(fileHeadOf);
    },
    async read(place, path, version) {
      const file = [...placeColumns(place), path];
      const found =
        version === undefined ? database.query(READ, file) : database.query(READ_VERSION, [...file, version]);
      const row = (await found).rows[0];
      return row && fileOf(row);
    },
    async newest(place, path, transaction) {
      await database.within(transaction, LOCK, placeColumns(place));
      const row = (await database.within(transaction, NEWEST, [...placeColumns(place), path])).rows[0];
      return row && newestOf(row);
    },
    async count(place, transaction) {
      return integer((await database.within(transaction, COUNT, placeColumns(place))).rows[0] ?? {}, 'count');
    },
    async put(place, { path, version, etag, contentType, content, updatedAt }, keep, transaction) {
      const file = [...placeColumns(place), path];
      await database.within(transaction, AGE, file);
      const values = [...file, version, etag, contentType, Buffer.from(content), updatedAt];
      await database.within(transaction, INSERT, values);
      await database.within(transaction, FORGET, [...file, version - keep]);
    },
    async remove(place, { path, version, updatedAt }, keep, transaction) {
      const file = [...placeColumns(place), path];
      await database.within(transaction, AGE, file);
      await database.within(transaction, INSERT, [...file, version, null, null, null, updatedAt]);
      await database.within(transaction, FORGET, [...file, version - keep.versions]);
      await database.within(transaction, FORGET_REMOVED, [...placeColumns(place), keep.removed]);
    },
  };
}
