import type { WorkspaceStore } from '../../ports/workspace.ts';
import { integer } from '../sql/row.ts';
import {
  afterPrefix,
  fileHeadOf,
  fileOf,
  IS_LONG_GONE,
  IS_UNREAD,
  isNewestAt,
  newestOf,
  placeColumns,
} from '../sql/workspace.ts';
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
// Starts of runs do not wait for each other, only for changes of the place.
const SHARE = {
  name: 'workspace-share',
  text: LOCK.text.replace('pg_advisory_xact_lock', 'pg_advisory_xact_lock_shared'),
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
    (tenant, workspace, mode, path, version, newest, etag, content_type, content, updated_at, revision)
    VALUES ($1, $2, $3, $4, $5, true, $6, $7, $8, $9,
      (SELECT coalesce(max(revision), 0) + 1 FROM workspace_files WHERE ${PLACE}))`,
};
const FORGET = {
  name: 'workspace-forget',
  text: `DELETE FROM workspace_files AS old WHERE ${FILE} AND version <= $5 AND ${IS_UNREAD}`,
};
const FORGET_REMOVED = {
  name: 'workspace-forget-removed',
  text: `DELETE FROM workspace_files WHERE ${PLACE} AND path IN (SELECT path FROM (
    SELECT * FROM workspace_files WHERE ${PLACE} AND newest AND etag IS NULL
    ORDER BY revision DESC, updated_at DESC, path OFFSET $4) AS gone WHERE ${IS_LONG_GONE})`,
};
const REVISION = {
  name: 'workspace-revision',
  text: `SELECT coalesce(max(revision), 0) AS revision FROM workspace_files WHERE ${PLACE}`,
};
const LIST_AT = {
  name: 'workspace-list-at',
  text: `SELECT path, version, etag, content_type, updated_at FROM workspace_files AS file
    WHERE ${PLACE} AND ${isNewestAt('$4')} ORDER BY path`,
};
const READ_AT = {
  name: 'workspace-read-at',
  text: `SELECT * FROM workspace_files AS file WHERE ${FILE} AND ${isNewestAt('$5')}`,
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
    async revision(place, transaction) {
      await database.within(transaction, SHARE, placeColumns(place));
      const { rows } = await database.within(transaction, REVISION, placeColumns(place));
      return integer(rows[0] ?? {}, 'revision');
    },
    async listAt(place, at) {
      return (await database.query(LIST_AT, [...placeColumns(place), at])).rows.map(fileHeadOf);
    },
    async readAt(place, path, at) {
      const row = (await database.query(READ_AT, [...placeColumns(place), path, at])).rows[0];
      return row && fileOf(row);
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
