import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { own, raw, session } from '../data/api.ts';
import { earlierNote, forgetNote, keepNote } from '../data/noted-head.ts';
import type { AuditEntry, Json } from '../data/shapes.ts';
import { type Finding, judgeContinuation, judgeEntries, judgeHead } from '../model/audit-findings.ts';
import { isObject } from '../model/timeline.ts';
import { ActionError, useAction } from '../parts/action.tsx';
import { Badge, Code, Text } from '../parts/words.tsx';

interface Result {
  readonly findings: readonly Finding[];
  readonly note: string;
  /** True: a remembered head is in the way of this one. */
  readonly canForget: boolean;
}

/** Verifies the audit log in the browser, and says what was verified and what was not. */
export function AuditCheck(): VNode {
  const action = useAction();
  const [result, setResult] = useState<Result | undefined>(undefined);
  // Browsers have WebCrypto on https and on this machine alone.
  const canVerify = globalThis.crypto?.subtle !== undefined;
  const verify = () =>
    void action.run(async () => {
      setResult(undefined);
      setResult(await verified());
    });
  return (
    <section class="card" aria-labelledby="check">
      <h2 id="check">Verify the log</h2>
      <p class="quiet">
        This browser computes the hashes of the newest entries, their proofs and the signature of the log, and compares
        the log with that of your last visit.
      </p>
      <p class="actions">
        <button type="button" disabled={action.isBusy || !canVerify} onClick={verify}>
          {action.isBusy ? 'Verifying …' : 'Verify now'}
        </button>
        {result?.canForget === true && (
          <button
            type="button"
            onClick={() => {
              forgetNote();
              setResult(undefined);
            }}
          >
            Forget the last visit
          </button>
        )}
      </p>
      {!canVerify && <p class="notice warn">Not verified: browsers have the functions for it on https alone.</p>}
      <ActionError action={action} />
      <div role="status">
        {result !== undefined && (
          <ul class="findings">
            {result.findings.map(({ outcome, name, sentence }) => (
              <li key={name}>
                <Badge tone={TONES[outcome]}>{outcome}</Badge> <strong>{name}.</strong> <Text>{sentence}</Text>
              </li>
            ))}
          </ul>
        )}
      </div>
      {result !== undefined && result.note !== '' && (
        <details>
          <summary>The signed note of the host</summary>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a text that scrolls must be reachable by the keyboard */}
          <pre tabIndex={0}>
            {result.note.split('\n').map((line, index) => (
              <div key={`${index}${line}`}>
                <Code>{line}</Code>
              </div>
            ))}
          </pre>
        </details>
      )}
    </section>
  );
}

const TONES = { verified: 'good', wrong: 'bad', 'not verified': 'idle' } as const;
const MOST_ENTRIES = 200;

async function verified(): Promise<Result> {
  const [note, discovery] = await Promise.all([
    raw(`${session.value?.own ?? ''}/audit/checkpoint`).then((response) => response.text()),
    raw('/.well-known/svc').then((response): Promise<Json> => response.json()),
  ]);
  const publicKey = keyIn(discovery);
  const { head, finding } = await judgeHead(note, publicKey);
  if (head === undefined) {
    const sentence =
      'The entries, and whether the log continues that of your last visit: both need a head with a valid signature.';
    return {
      note,
      canForget: false,
      findings: [finding, { outcome: 'not verified', name: 'Everything else', sentence }],
    };
  }
  const { entries } = await own<{ entries: readonly AuditEntry[] }>(
    'GET',
    `/audit?treeSize=${head.treeSize}&limit=${MOST_ENTRIES}`,
  );
  const earlier = earlierNote();
  const continuation = await judgeContinuation(earlier, publicKey, head, async (first, second) => {
    const query = `first=${first}&second=${second}`;
    return (await own<{ proof: readonly string[] }>('GET', `/audit/proof/consistency?${query}`)).proof;
  });
  const findings = [finding, ...(await judgeEntries(entries, head)), continuation];
  // A head that is not proven to continue the earlier one must not take its place.
  const isGood = findings.every(({ outcome }) => outcome !== 'wrong');
  const isKept =
    isGood && (earlier === undefined || continuation.outcome === 'verified') && keepNote({ note, publicKey });
  const canForget = earlier !== undefined && continuation.outcome !== 'verified';
  return { note, canForget, findings: [...findings, notVerified(entries, isKept)] };
}

function notVerified(entries: readonly AuditEntry[], isKept: boolean): Finding {
  const last = entries.at(-1)?.atSequence;
  const sentence = [
    last === undefined
      ? 'No entry of yours is in the signed log.'
      : `Entries before number ${last}, and those after the signed head.`,
    'Entries of other tenants. The cosignature of a witness. The page and the key come from this same host:',
    'for a proof against the host itself, verify an export with svc-audit and a key that you have from elsewhere.',
    ...(isKept ? [] : ['This head was not remembered.']),
  ].join(' ');
  return { outcome: 'not verified', name: 'Not looked at', sentence };
}

/** The key of checkpoints in the discovery document of major 2. */
function keyIn(discovery: Json): string {
  const family = isObject(discovery) ? discovery.auditLogIntegrity : undefined;
  const key = isObject(family) ? family.checkpointPublicKey : undefined;
  return typeof key === 'string' ? key : '';
}
