import type { Artifact } from '../../ports/artifacts.ts';
import type { StoreContract } from './contract.ts';
import { sampleRun } from './samples.ts';

function sampleArtifact(fields: Partial<Artifact>): Artifact {
  return {
    artifactId: 'art_1',
    runId: 'run_1',
    artifactType: 'draft',
    content: { text: 'é\u0000"' },
    createdAt: 1,
    ...fields,
  };
}

/** Tests of `ArtifactStore`. */
export function artifactsContract({ onStore, assert }: StoreContract): void {
  onStore('artifacts are read back unchanged, under their own run alone', async (store) => {
    const whole = sampleArtifact({ nodeId: 'n', name: 'a draft' });
    const others = [sampleArtifact({ artifactId: 'art_0', content: null }), sampleArtifact({ runId: 'run_2' })];
    await store.transaction(async (transaction) => {
      for (const artifact of [whole, ...others]) await store.artifacts.insert(artifact, transaction);
    });
    const run = sampleRun({});
    assert.deepEqual(await store.artifacts.read(run, 'art_1'), whole);
    assert.deepEqual(await store.artifacts.read(run, 'art_2'), undefined);
    assert.deepEqual(await store.artifacts.read(sampleRun({ runId: 'run_3' }), 'art_1'), undefined);
    assert.deepEqual(await store.artifacts.list(run, 10), [others[0], whole]);
    assert.deepEqual(await store.artifacts.list(run, 1), [others[0]]);
  });

  onStore('a rolled-back artifact is not listed', async (store) => {
    const failing = store.transaction(async (transaction) => {
      await store.artifacts.insert(sampleArtifact({}), transaction);
      throw new Error('no');
    });
    await assert.rejects(failing);
    assert.deepEqual(await store.artifacts.list(sampleRun({}), 10), []);
  });
}
