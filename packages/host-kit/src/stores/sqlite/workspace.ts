import type { DatabaseSync } from 'node:sqlite';
import type { WorkspacePlace, WorkspaceStore } from '../../ports/workspace.ts';
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
import type { Writer } from './writer.ts';

const PLACE = 'tenant = ? AND workspace = ? AND mode = ?';
const FILE = `${PLACE} AND path = ?`;
const LIST = `SELECT path, version, etag, content_type, updated_at FROM workspace_files
  WHERE ${PLACE} AND path >= ? AND path < ? AND newest = 1 AND etag IS NOT NULL ORDER BY path`;
const READ = `SELECT * FROM workspace_files WHERE ${FILE} AND newest = 1 AND etag IS NOT NULL`;
const READ_VERSION = `SELECT * FROM workspace_files WHERE ${FILE} AND version = ? AND etag IS NOT NULL`;
const NEWEST = `SELECT version, etag FROM workspace_files WHERE ${FILE} AND newest = 1`;
const COUNT = `SELECT count(*) AS count FROM workspace_files WHERE ${PLACE} AND newest = 1 AND etag IS NOT NULL`;
const AGE = `UPDATE workspace_files SET newest = 0 WHERE ${FILE} AND newest = 1`;
const INSERT = `INSERT INTO workspace_files
  (tenant, workspace, mode, path, version, newest, etag, content_type, content, updated_at, revision)
  VALUES (?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?)`;
const FORGET = `DELETE FROM workspace_files AS old WHERE ${FILE} AND version <= ? AND ${IS_UNREAD}`;
const FORGET_REMOVED = `DELETE FROM workspace_files WHERE ${PLACE} AND path IN (SELECT path FROM (
  SELECT * FROM workspace_files WHERE ${PLACE} AND newest = 1 AND etag IS NULL
  ORDER BY revision DESC, updated_at DESC, path LIMIT -1 OFFSET ?) AS gone WHERE ${IS_LONG_GONE})`;
const REVISION = `SELECT coalesce(max(revision), 0) AS revision FROM workspace_files WHERE ${PLACE}`;
const LIST_AT = `SELECT path, version, etag, content_type, updated_at FROM workspace_files AS file
  WHERE ${PLACE} AND ${isNewestAt('?4')} ORDER BY path`;
const READ_AT = `SELECT * FROM workspace_files AS file WHERE ${FILE} AND ${isNewestAt('?5')}`;

export function workspaceStore(reader: DatabaseSync, database: DatabaseSync, writer: Writer): WorkspaceStore {
  const list = reader.prepare(LIST);
  const read = reader.prepare(READ);
  const readVersion = reader.prepare(READ_VERSION);
  const newest = database.prepare(NEWEST);
  const count = database.prepare(COUNT);
  const age = database.prepare(AGE);
  const insert = database.prepare(INSERT);
  const forget = database.prepare(FORGET);
  const forgetRemoved = database.prepare(FORGET_REMOVED);
  const revision = database.prepare(REVISION);
  const listAt = reader.prepare(LIST_AT);
  const readAt = reader.prepare(READ_AT);
  const nextRevision = (place: WorkspacePlace) => integer(revision.get(...placeColumns(place)) ?? {}, 'revision') + 1;

  return {
    list: async (place, prefix) => list.all(...placeColumns(place), prefix, afterPrefix(prefix)).map(fileHeadOf),
    async read(place, path, version) {
      const file = [...placeColumns(place), path];
      const row = version === undefined ? read.get(...file) : readVersion.get(...file, version);
      return row && fileOf(row);
    },
    async newest(place, path, transaction) {
      writer.require(transaction);
      const row = newest.get(...placeColumns(place), path);
      return row && newestOf(row);
    },
    async revision(place, transaction) {
      writer.require(transaction);
      return integer(revision.get(...placeColumns(place)) ?? {}, 'revision');
    },
    listAt: async (place, at) => listAt.all(...placeColumns(place), at).map(fileHeadOf),
    async readAt(place, path, at) {
      const row = readAt.get(...placeColumns(place), path, at);
      return row && fileOf(row);
    },
    async count(place, transaction) {
      writer.require(transaction);
      return integer(count.get(...placeColumns(place)) ?? {}, 'count');
    },
    async put(place, { path, version, etag, contentType, content, updatedAt }, keep, transaction) {
      writer.require(transaction);
      const file = [...placeColumns(place), path];
      const changed = nextRevision(place);
      age.run(...file);
      insert.run(...file, version, etag, contentType, content, updatedAt, changed);
      forget.run(...file, version - keep);
    },
    async remove(place, { path, version, updatedAt }, keep, transaction) {
      writer.require(transaction);
      const file = [...placeColumns(place), path];
      const changed = nextRevision(place);
      age.run(...file);
      insert.run(...file, version, null, null, null, updatedAt, changed);
      forget.run(...file, version - keep.versions);
      forgetRemoved.run(...placeColumns(place), ...placeColumns(place), keep.removed);
    },
  };
}
