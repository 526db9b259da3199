import { factAboutRun, type RecordAudit } from '../audit/fact.ts';
import { HostError } from '../errors.ts';
import type { NewEvent } from '../ports/engine.ts';
import type { HostPorts } from '../ports/host-ports.ts';
import type { NewRunFile, RunFileCondition, RunFiles } from '../ports/run-files.ts';
import type { Run } from '../ports/runs.ts';
import type { Transaction } from '../ports/transaction.ts';
import { textOf, type WorkspaceFileHead, type WorkspacePlace } from '../ports/workspace.ts';
import { fileRequest } from '../workspace/file-request.ts';
import {
  type GivenFile,
  isFilePath,
  type Precondition,
  type WorkspaceFileLimits,
  writeFile,
  writeRemoval,
} from '../workspace/files.ts';
import type { DrivenRun } from './driven-run.ts';
import type { Redactor } from './redactor.ts';

export interface RunFilesParts extends Pick<HostPorts, 'store' | 'clock' | 'random'> {
  readonly driven: DrivenRun;
  /** Undefined: the host serves no workspace files. */
  readonly limits: WorkspaceFileLimits | undefined;
  readonly redactor: Redactor;
  readonly recordAudit: RecordAudit;
  readonly isReplay: boolean;
}

/** Makes the files that a run reads and writes. */
export function runFiles(parts: RunFilesParts): RunFiles {
  const { store, driven, redactor } = parts;
  const place = placeOfRun(driven.run);
  return {
    async list(prefix = '') {
      requireServed(parts);
      const files = await read(driven, store.workspace.listAt(place, revisionOf(driven)));
      return files.filter(({ path }) => path.startsWith(prefix));
    },
    async read(path) {
      requireServed(parts);
      // A store may fail at such a path, which would look like a fault of the store.
      if (typeof path !== 'string' || !isFilePath(path)) return undefined;
      const file = await read(driven, store.workspace.readAt(place, path, revisionOf(driven)));
      return file && { ...file, content: textOf(file) };
    },
    async put(file, condition = {}) {
      const limits = requireWritable(parts, 'put');
      const given = givenFile(redactor.redacted(file));
      const precondition = conditionOf(given.path, condition);
      return await change(parts, 'workspace.put', condition, async (transaction) => {
        const { content: _, ...head } = await writeFile({ ...parts, limits }, place, given, precondition, transaction);
        return head;
      });
    },
    async remove(path, condition = {}) {
      const limits = requireWritable(parts, 'remove');
      const precondition = conditionOf(path, condition);
      await change(parts, 'workspace.remove', condition, (transaction) =>
        writeRemoval({ ...parts, limits }, place, path, precondition, transaction),
      );
    },
  };
}

function placeOfRun({ tenant, workspace, mode }: Run): WorkspacePlace {
  return { tenant, mode, ...(workspace !== undefined && { workspace }) };
}

function requireServed({ limits }: RunFilesParts): WorkspaceFileLimits {
  if (limits !== undefined) return limits;
  throw new TypeError('files: the host serves no workspace files. Set workspaceFiles of createHost.');
}

function requireWritable(parts: RunFilesParts, method: string): WorkspaceFileLimits {
  if (parts.isReplay) {
    throw new TypeError(
      `files.${method}: a replay changes no files. Call it in a node, which a replay does not execute.`,
    );
  }
  return requireServed(parts);
}

/** A run that started before the host served files has no revision, and sees none. */
function revisionOf({ latest }: DrivenRun): number {
  return latest.filesRevision ?? -1;
}

async function read<T>(driven: DrivenRun, reading: Promise<T>): Promise<T> {
  const found = await reading.catch((error: unknown) => driven.leaveUnread(error));
  if (driven.left !== undefined) throw driven.left;
  return found;
}

/** Checks a file by the rules of a client, because clients read it, too. */
function givenFile({ path, content, contentType }: NewRunFile): GivenFile {
  const { success, data } = fileRequest.safeParse({ content, ...(contentType !== undefined && { contentType }) });
  if (success) return { path, ...data };
  throw new TypeError(
    'files.put: content must be text, and contentType a media type such as text/markdown. Change them.',
  );
}

function conditionOf(path: string, { etag }: RunFileCondition): Precondition {
  if (!isFilePath(path)) {
    throw new TypeError(
      'files: path must be 1 to 256 characters of A-Z a-z 0-9 . _ - /, a letter or digit first, without "..". Change it.',
    );
  }
  if (etag === undefined) return () => true;
  return (current) => current === (etag ?? undefined);
}

/** Changes a file and records it. A refusal is returned through the transaction, because it does not end the turn. */
async function change<T extends Pick<WorkspaceFileHead, 'path' | 'version' | 'updatedAt'>>(
  { driven, redactor, recordAudit }: RunFilesParts,
  action: 'workspace.put' | 'workspace.remove',
  { nodeId }: RunFileCondition,
  write: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  if (!driven.mayRecord()) throw driven.left;
  const written = await driven.change(async (open) => {
    if (open.run.status !== 'running' && open.run.status !== 'cancelling') return undefined;
    try {
      const file = await write(open.transaction);
      const payload = { path: file.path, version: file.version };
      const updated: NewEvent = { type: 'workspace.updated', payload, ...(nodeId !== undefined && { nodeId }) };
      await open.append(redactor.redacted(updated));
      const { workspace = null } = open.run;
      const details = { version: file.version };
      const fact = factAboutRun(open.run, { action, target: workspace, at: file.updatedAt, details });
      await recordAudit(fact, open.transaction);
      return { file };
    } catch (error) {
      if (HostError.is(error) && REFUSALS.has(error.code)) return { refused: error };
      throw error;
    }
  });
  if (written === undefined) throw driven.left;
  if ('refused' in written) throw written.refused;
  return written.file;
}

const REFUSALS: ReadonlySet<string> = new Set(['not_found', 'workspace_conflict', 'workspace_too_large']);
