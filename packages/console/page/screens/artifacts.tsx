import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { raw } from '../data/api.ts';
import type { RunEvent } from '../data/shapes.ts';
import { artifactsIn, fileName, type NamedArtifact, sizeText } from '../model/artifact-list.ts';
import { ActionError, useAction } from '../parts/action.tsx';
import { Table } from '../parts/table.tsx';
import { Ago, ShortId, Text } from '../parts/words.tsx';

/** The artifacts of a run. Their contents are downloaded and never shown: a browser would take some for a page. */
export function Artifacts({ path, events }: { readonly path: string; readonly events: readonly RunEvent[] }): VNode {
  const artifacts = artifactsIn(events).slice(-MOST_SHOWN).reverse();
  const [sizes, setSizes] = useState<ReadonlyMap<string, string>>(new Map());
  const action = useAction();
  const asked = useRef(new Set<string>());
  const newest = artifacts.slice(0, MOST_READ).map(({ artifactId }) => artifactId);
  const note = (id: string, size: string) => setSizes((old) => new Map(old).set(id, size));
  useEffect(() => {
    for (const id of newest) {
      if (asked.current.has(id) || asked.current.size >= MOST_READ) continue;
      asked.current.add(id);
      void bytesOf(path, id).then(
        ({ size }) => note(id, sizeText(size)),
        () => note(id, 'not readable'),
      );
    }
  }, [newest.join()]);
  const download = ({ artifactId }: NamedArtifact) =>
    void action.run(async () => {
      const bytes = await bytesOf(path, artifactId);
      note(artifactId, sizeText(bytes.size));
      save(bytes, fileName(artifactId));
    });
  return (
    <>
      <p class="lead">
        A download is the answer of the API, byte by byte: the artifact with its content, as JSON. The size is that of
        the download.
      </p>
      <ActionError action={action} />
      <Table
        label="Artifacts"
        rows={artifacts}
        keyOf={({ artifactId }) => artifactId}
        columns={[
          {
            name: 'Type',
            cell: ({ type, artifactId, summary }) => (
              <>
                <span class="strong">
                  <Text>{type}</Text>
                </span>
                <ShortId>{artifactId}</ShortId>
                {summary !== undefined && (
                  <div class="quiet">
                    <Text>{summary.slice(0, 300)}</Text>
                  </div>
                )}
              </>
            ),
          },
          { name: 'Node', cell: ({ nodeId }) => (nodeId === undefined ? '–' : <Text>{nodeId}</Text>) },
          { name: 'Created', cell: ({ createdAt }) => <Ago time={createdAt} /> },
          { name: 'Size', cell: ({ artifactId }) => sizes.get(artifactId) ?? '–' },
          {
            name: 'Content',
            cell: (artifact) => (
              <button type="button" disabled={action.isBusy} onClick={() => download(artifact)}>
                Download
              </button>
            ),
          },
        ]}
      />
    </>
  );
}

const MOST_SHOWN = 100;
/** Artifacts whose size is read without being asked for: each is a request. */
const MOST_READ = 5;

async function bytesOf(path: string, artifactId: string): Promise<Blob> {
  const response = await raw(`${path}/artifacts/${encodeURIComponent(artifactId)}`);
  // No browser shows content of this type as a page.
  return new Blob([await response.arrayBuffer()], { type: 'application/octet-stream' });
}

function save(bytes: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(bytes);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
