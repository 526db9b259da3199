import type { WorkspaceFile, WorkspaceFileHead, WorkspacePlace, WorkspaceStore } from '../../ports/workspace.ts';
import { type Journal, put } from './journal.ts';

/** One version of a path. A version without content is a removal. */
type Version =
  | WorkspaceFile
  | (Pick<WorkspaceFileHead, 'path' | 'version' | 'updatedAt'> & { readonly etag?: undefined });

interface Entry {
  readonly place: string;
  readonly path: string;
  /** Oldest first. */
  readonly versions: readonly Version[];
}

export function workspaceStore(journal: Journal): WorkspaceStore {
  const entries = new Map<string, Entry>();
  const of = (place: WorkspacePlace) => [...entries.values()].filter((entry) => entry.place === keyOf(place));
  const entryOf = (place: WorkspacePlace, path: string) => entries.get(keyOf(place, path));

  return {
    async list(place, prefix) {
      const current = of(place).flatMap(({ versions }) => fileIn(versions.at(-1)) ?? []);
      return current
        .filter(({ path }) => path.startsWith(prefix))
        .sort((one, other) => (one.path < other.path ? -1 : 1))
        .map(({ content: _, ...head }) => head);
    },
    async read(place, path, version) {
      const versions = entryOf(place, path)?.versions ?? [];
      return fileIn(version === undefined ? versions.at(-1) : versions.find((one) => one.version === version));
    },
    async newest(place, path) {
      const version = entryOf(place, path)?.versions.at(-1);
      return version && { version: version.version, etag: version.etag };
    },
    count: async (place) => of(place).filter(({ versions }) => fileIn(versions.at(-1)) !== undefined).length,
    async put(place, file, keep, transaction) {
      const versions = [...(entryOf(place, file.path)?.versions ?? []), file].slice(-keep);
      put(journal, transaction, entries, keyOf(place, file.path), { place: keyOf(place), path: file.path, versions });
    },
    async remove(place, removal, keep, transaction) {
      const { path } = removal;
      const versions = [...(entryOf(place, path)?.versions ?? []), removal].slice(-keep.versions);
      put(journal, transaction, entries, keyOf(place, path), { place: keyOf(place), path, versions });
      const removed = of(place).filter((entry) => fileIn(entry.versions.at(-1)) === undefined);
      const latestFirst = removed.sort((one, other) => removedAt(other) - removedAt(one));
      for (const entry of latestFirst.slice(keep.removed)) {
        put(journal, transaction, entries, keyOf(place, entry.path), undefined);
      }
    },
  };
}

function fileIn(version: Version | undefined): WorkspaceFile | undefined {
  return version !== undefined && 'content' in version ? version : undefined;
}

function removedAt({ versions }: Entry): number {
  return versions.at(-1)?.updatedAt ?? 0;
}

function keyOf({ tenant, workspace, mode }: WorkspacePlace, path?: string): string {
  return JSON.stringify([tenant, workspace ?? null, mode, path]);
}
