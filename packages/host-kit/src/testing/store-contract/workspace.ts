import type { Store } from '../../ports/store.ts';
import type { WorkspaceFile, WorkspacePlace } from '../../ports/workspace.ts';
import type { StoreContract } from './contract.ts';
import { sampleRun } from './samples.ts';

/** Tests of `WorkspaceStore`. */
export function workspaceContract({ onStore, assert }: StoreContract): void {
  onStore('a file keeps its last versions', async (store) => {
    for (const version of [1, 2, 3]) await put(store, sampleFile({ version, etag: `${version}` }));
    const read = (version?: number) => store.workspace.read(PLACE, 'a.md', version);
    assert.deepEqual(await read(), sampleFile({ version: 3, etag: '3' }));
    assert.deepEqual(await read(2), sampleFile({ version: 2, etag: '2' }));
    assert.deepEqual(await read(1), undefined);
    assert.deepEqual(await newest(store, 'a.md'), { version: 3, etag: '3' });
    assert.deepEqual(await newest(store, 'b.md'), undefined);
  });

  onStore('a removed file is not listed, and its versions are read by number', async (store) => {
    await put(store, sampleFile({}));
    await remove(store, 'a.md', 2, 1);
    assert.deepEqual(await store.workspace.list(PLACE, ''), []);
    assert.deepEqual(await store.workspace.read(PLACE, 'a.md', undefined), undefined);
    assert.deepEqual(await store.workspace.read(PLACE, 'a.md', 1), sampleFile({}));
    assert.deepEqual(await store.workspace.read(PLACE, 'a.md', 2), undefined);
    assert.deepEqual(await newest(store, 'a.md'), { version: 2, etag: undefined });
    await put(store, sampleFile({ version: 3 }));
    assert.deepEqual((await store.workspace.list(PLACE, '')).length, 1);
  });

  onStore('the files that were removed last keep their versions', async (store) => {
    for (const [index, path] of ['a', 'b', 'c'].entries()) {
      await put(store, sampleFile({ path }));
      await remove(store, path, 2, index);
    }
    assert.deepEqual(await newest(store, 'a'), undefined);
    assert.deepEqual(await newest(store, 'b'), { version: 2, etag: undefined });
    assert.deepEqual(await newest(store, 'c'), { version: 2, etag: undefined });
    assert.deepEqual(await store.workspace.read(PLACE, 'a', 1), undefined);
  });

  onStore('files are listed by prefix in the order of their paths, and counted', async (store) => {
    for (const path of ['notes/b', 'notes/a', 'notesx', 'N', 'notes/a/z']) await put(store, sampleFile({ path }));
    const paths = async (prefix: string) => (await store.workspace.list(PLACE, prefix)).map(({ path }) => path);
    assert.deepEqual(await paths(''), ['N', 'notes/a', 'notes/a/z', 'notes/b', 'notesx']);
    assert.deepEqual(await paths('notes/'), ['notes/a', 'notes/a/z', 'notes/b']);
    assert.deepEqual(await paths('o'), []);
    assert.deepEqual((await store.workspace.list(PLACE, 'N'))[0], headOf(sampleFile({ path: 'N' })));
    assert.deepEqual(await store.transaction((transaction) => store.workspace.count(PLACE, transaction)), 5);
  });

  onStore('a file is found in its own tenant, workspace and mode alone', async (store) => {
    await put(store, sampleFile({}));
    const { workspace: _, ...wholeTenant } = PLACE;
    const elsewhere: WorkspacePlace[] = [
      { ...PLACE, tenant: 'other' },
      { ...PLACE, workspace: 'w2' },
      { ...PLACE, mode: 'test' },
      wholeTenant,
    ];
    for (const place of elsewhere) {
      assert.deepEqual(await store.workspace.list(place, ''), []);
      assert.deepEqual(await store.workspace.read(place, 'a.md', undefined), undefined);
      assert.deepEqual(await store.workspace.read(place, 'a.md', 1), undefined);
      await put(store, sampleFile({ etag: 'own' }), place);
    }
    assert.deepEqual(await store.workspace.read(PLACE, 'a.md', undefined), sampleFile({}));
  });

  onStore('a run reads the files as they were at its revision until it ends', async (store) => {
    await put(store, sampleFile({}));
    await put(store, sampleFile({ path: 'b.md' }));
    const { filesRevision, ...run } = await startRun(store, 'run_1');
    for (const version of [2, 3, 4, 5]) await put(store, sampleFile({ version, etag: `${version}` }));
    await startRun(store, 'run_2');
    await remove(store, 'a.md', 6, 6);
    await remove(store, 'b.md', 2, 7);
    await put(store, sampleFile({ path: 'c.md' }));
    const heads = [sampleFile({}), sampleFile({ path: 'b.md' })].map(headOf);
    assert.deepEqual(await store.workspace.listAt(PLACE, filesRevision), heads);
    assert.deepEqual(await store.workspace.readAt(PLACE, 'a.md', filesRevision), sampleFile({}));
    assert.deepEqual(await store.workspace.readAt(PLACE, 'c.md', filesRevision), undefined);
    assert.deepEqual(await store.workspace.readAt({ ...PLACE, mode: 'test' }, 'a.md', filesRevision), undefined);
    // Versions 2 to 4 were those of no run.
    assert.deepEqual(await store.workspace.read(PLACE, 'a.md', 2), undefined);
    assert.deepEqual(
      (await store.workspace.listAt(PLACE, 6)).map(({ version }) => version),
      [5, 1],
    );

    await store.transaction((transaction) => store.runs.update([run], transaction));
    await put(store, sampleFile({ version: 7, etag: '7' }));
    assert.deepEqual(await store.workspace.read(PLACE, 'a.md', 1), undefined);
    assert.deepEqual((await store.workspace.read(PLACE, 'a.md', 5))?.version, 5);
  });

  onStore('a removed file that a run reads is kept, however many are removed after it', async (store) => {
    await put(store, sampleFile({}));
    const { filesRevision } = await startRun(store, 'run_1');
    await remove(store, 'a.md', 2, 0);
    for (const [index, path] of ['b', 'c', 'd'].entries()) {
      await put(store, sampleFile({ path }));
      await remove(store, path, 2, index + 1);
    }
    assert.deepEqual(await store.workspace.readAt(PLACE, 'a.md', filesRevision), sampleFile({}));
    assert.deepEqual(await newest(store, 'a.md'), { version: 2, etag: undefined });
  });

  onStore('concurrent additions to a file get different versions', async (store) => {
    const add = () =>
      store.transaction(async (transaction) => {
        const version = ((await store.workspace.newest(PLACE, 'a.md', transaction))?.version ?? 0) + 1;
        await store.workspace.put(PLACE, sampleFile({ version, etag: `${version}` }), 99, transaction);
        return version;
      });
    const versions = await Promise.all(Array.from({ length: 10 }, add));
    assert.deepEqual(
      versions.sort((a, b) => a - b),
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    );
  });
}

const PLACE: WorkspacePlace = { tenant: 'acme', workspace: 'w1', mode: 'live' };

function sampleFile(fields: Partial<WorkspaceFile>): WorkspaceFile {
  const content = new TextEncoder().encode('é\u0000');
  return { path: 'a.md', version: 1, etag: '1', contentType: 'text/markdown', updatedAt: 5, content, ...fields };
}

function headOf({ content: _, ...head }: WorkspaceFile) {
  return head;
}

/** Puts a file and keeps two of its versions. */
function put(store: Store, file: WorkspaceFile, place = PLACE): Promise<void> {
  return store.transaction((transaction) => store.workspace.put(place, file, 2, transaction));
}

function remove(store: Store, path: string, version: number, updatedAt: number): Promise<void> {
  return store.transaction((transaction) =>
    store.workspace.remove(PLACE, { path, version, updatedAt }, { versions: 2, removed: 2 }, transaction),
  );
}

/** Stores a run that reads the files of the place from now on. */
function startRun(store: Store, runId: string) {
  return store.transaction(async (transaction) => {
    const filesRevision = await store.workspace.revision(PLACE, transaction);
    const run = { ...sampleRun({ ...PLACE, runId, status: 'running' }), filesRevision };
    await store.runs.insert(run, transaction);
    return run;
  });
}

function newest(store: Store, path: string) {
  return store.transaction((transaction) => store.workspace.newest(PLACE, path, transaction));
}
