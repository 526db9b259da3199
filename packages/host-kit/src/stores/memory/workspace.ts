import type { WorkspaceFile, WorkspaceFileHead, WorkspacePlace, WorkspaceStore } from '../../ports/workspace.ts';
import { type Journal, put } from './journal.ts';

/** One version of a path. A version without content is a removal. */
type Version = { readonly revision: number } & (
  | WorkspaceFile
  | (Pick<WorkspaceFileHead, 'path' | 'version' | 'updatedAt'> & { readonly etag?: undefined })
);

interface Entry {
  readonly place: string;
  readonly path: string;
  /** Oldest first. */
  readonly versions: readonly Version[];
}

/** @param readBy returns the revisions that the runs of a place read */
export function workspaceStore(journal: Journal, readBy: (place: WorkspacePlace) => readonly number[]): WorkspaceStore {
  const entries = new Map<string, Entry>();
  const of = (place: WorkspacePlace) => [...entries.values()].filter((entry) => entry.place === keyOf(place));
  const entryOf = (place: WorkspacePlace, path: string) => entries.get(keyOf(place, path));
  const revisionOf = (place: WorkspacePlace) => Math.max(0, ...of(place).map(lastRevision));

  /** The entry of a path after a change, without the versions that are `keep` or more before it and that no run reads. */
  function changed(place: WorkspacePlace, version: Version, keep: number): Entry {
    const { path } = version;
    const versions = [...(entryOf(place, path)?.versions ?? []), version];
    const read = readBy(place);
    const isKept = (old: Version, index: number) => {
      const next = versions[index + 1]?.revision ?? Number.POSITIVE_INFINITY;
      return old.version > version.version - keep || read.some((at) => at >= old.revision && at < next);
    };
    return { place: keyOf(place), path, versions: versions.filter(isKept) };
  }

  return {
    async list(place, prefix) {
      const current = of(place).flatMap(({ versions }) => fileIn(versions.at(-1)) ?? []);
      return current
        .filter(({ path }) => path.startsWith(prefix))
        .sort(byPath)
        .map(headOf);
    },
    async read(place, path, version) {
      const versions = entryOf(place, path)?.versions ?? [];
      return fileIn(version === undefined ? versions.at(-1) : versions.find((one) => one.version === version));
    },
    async newest(place, path) {
      const version = entryOf(place, path)?.versions.at(-1);
      return version && { version: version.version, etag: version.etag };
    },
    revision: async (place) => revisionOf(place),
    async listAt(place, revision) {
      const found = of(place).flatMap(({ versions }) => fileIn(newestAt(versions, revision)) ?? []);
      return found.sort(byPath).map(headOf);
    },
    readAt: async (place, path, revision) => fileIn(newestAt(entryOf(place, path)?.versions ?? [], revision)),
    count: async (place) => of(place).filter(({ versions }) => fileIn(versions.at(-1)) !== undefined).length,
    async put(place, file, keep, transaction) {
      const entry = changed(place, { ...file, revision: revisionOf(place) + 1 }, keep);
      put(journal, transaction, entries, keyOf(place, file.path), entry);
    },
    async remove(place, removal, keep, transaction) {
      const entry = changed(place, { ...removal, revision: revisionOf(place) + 1 }, keep.versions);
      put(journal, transaction, entries, keyOf(place, removal.path), entry);
      const removed = of(place).filter(({ versions }) => fileIn(versions.at(-1)) === undefined);
      const latestFirst = removed.sort((one, other) => lastRevision(other) - lastRevision(one));
      for (const gone of latestFirst.slice(keep.removed)) {
        const isRead = readBy(place).some((at) => at < lastRevision(gone));
        if (!isRead) put(journal, transaction, entries, keyOf(place, gone.path), undefined);
      }
    },
  };
}

function newestAt(versions: readonly Version[], revision: number): Version | undefined {
  return versions.findLast((version) => version.revision <= revision);
}

/** Returns the file of a version, undefined for a removal. */
function fileIn(version: Version | undefined): WorkspaceFile | undefined {
  if (version === undefined || !('content' in version)) return undefined;
  const { revision: _, ...file } = version;
  return file;
}

function headOf({ content: _, ...head }: WorkspaceFile): WorkspaceFileHead {
  return head;
}

function byPath(one: WorkspaceFileHead, other: WorkspaceFileHead): number {
  return one.path < other.path ? -1 : 1;
}

function lastRevision({ versions }: Entry): number {
  return versions.at(-1)?.revision ?? 0;
}

function keyOf({ tenant, workspace, mode }: WorkspacePlace, path?: string): string {
  return JSON.stringify([tenant, workspace ?? null, mode, path]);
}
