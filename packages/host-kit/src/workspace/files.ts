import type { Principal } from '@svc/auth';
import type { AuditFact } from '@svc/auth/audit';
import type { ChangeServices } from '../audit/change-services.ts';
import { factAbout } from '../audit/fact.ts';
import { HostError } from '../errors.ts';
import type { Save } from '../ports/idempotency.ts';
import type { Random } from '../ports/random.ts';
import type { Transaction } from '../ports/transaction.ts';
import { type NewestVersion, placeOf, type WorkspaceFile, type WorkspacePlace } from '../ports/workspace.ts';

/** The limits of a workspace's files. */
export interface WorkspaceFileLimits {
  /** The maximum size of one file, in bytes of UTF-8. */
  readonly maxFileBytes: number;
  /** The maximum number of files. */
  readonly maxFiles: number;
  /** The stored versions of one file, including the current one. */
  readonly maxVersions: number;
}

/** The ports and limits of a change of a workspace's files. */
export interface WorkspaceServices extends ChangeServices {
  readonly random: Random;
  readonly limits: WorkspaceFileLimits;
}

/** Decides whether a change is permitted, by the `etag` of the current file; undefined when there is none. */
export type Precondition = (etag: string | undefined) => boolean;

/**
 * Creates or replaces a file of the caller's workspace.
 *
 * @param save is called in the transaction of the change
 * @throws {HostError} as {@link writeFile}
 * @see Interface: PUT /v1/host/workspace/files/{path}
 */
export async function putFile(
  services: WorkspaceServices,
  principal: Principal,
  given: GivenFile,
  precondition: Precondition,
  save: Save<WorkspaceFile>,
): Promise<WorkspaceFile> {
  const { store, recordAudit } = services;
  const place = placeOf(principal.tenancy);
  return store.transaction(async (transaction) => {
    const file = await writeFile(services, place, given, precondition, transaction);
    await recordAudit(fact(principal, 'workspace.put', file), transaction);
    await save(file, transaction);
    return file;
  });
}

/** A file to write. */
export interface GivenFile {
  readonly path: string;
  readonly content: string;
  readonly contentType: string;
}

/**
 * Writes a new version of a file. Nothing is written when it throws.
 *
 * @throws {HostError} `workspace_too_large` when the file or the number of files exceeds its limit,
 * `workspace_conflict` when the precondition does not hold
 */
export async function writeFile(
  { store, clock, random, limits }: FileWriting,
  place: WorkspacePlace,
  given: GivenFile,
  precondition: Precondition,
  transaction: Transaction,
): Promise<WorkspaceFile> {
  const content = new TextEncoder().encode(given.content);
  if (content.length > limits.maxFileBytes) throw tooLarge(limits.maxFileBytes, content.length);
  const unique = Buffer.from(random(9)).toString('base64url');
  const newest = await store.workspace.newest(place, given.path, transaction);
  demand(precondition, newest);
  const isNew = newest?.etag === undefined;
  if (isNew && (await store.workspace.count(place, transaction)) >= limits.maxFiles) throw tooMany(limits.maxFiles);
  const version = (newest?.version ?? 0) + 1;
  const { path, contentType } = given;
  const file = { path, contentType, content, version, etag: `${version}-${unique}`, updatedAt: clock.now() };
  await store.workspace.put(place, file, limits.maxVersions, transaction);
  return file;
}

/** The ports and limits that a change of a file needs. */
export type FileWriting = Pick<WorkspaceServices, 'store' | 'clock' | 'random' | 'limits'>;

/**
 * Removes a file of the caller's workspace. Its earlier versions stay readable by their numbers.
 *
 * @param save is called in the transaction of the removal
 * @throws {HostError} `not_found`, or `workspace_conflict` when the precondition does not hold
 * @see Interface: DELETE /v1/host/workspace/files/{path}
 */
export async function removeFile(
  services: WorkspaceServices,
  principal: Principal,
  path: string,
  precondition: Precondition,
  save: Save<void>,
): Promise<void> {
  const { store, recordAudit } = services;
  const place = placeOf(principal.tenancy);
  await store.transaction(async (transaction) => {
    const removal = await writeRemoval(services, place, path, precondition, transaction);
    await recordAudit(fact(principal, 'workspace.remove', removal), transaction);
    await save(undefined, transaction);
  });
}

/**
 * Writes the removal of a file as a version. Nothing is written when it throws.
 *
 * @throws {HostError} `not_found`, or `workspace_conflict` when the precondition does not hold
 */
export async function writeRemoval(
  { store, clock, limits }: Omit<FileWriting, 'random'>,
  place: WorkspacePlace,
  path: string,
  precondition: Precondition,
  transaction: Transaction,
): Promise<Pick<WorkspaceFile, 'path' | 'version' | 'updatedAt'>> {
  const newest = await store.workspace.newest(place, path, transaction);
  if (newest?.etag === undefined) throw noSuchFile();
  demand(precondition, newest);
  const removal = { path, version: newest.version + 1, updatedAt: clock.now() };
  const keep = { versions: limits.maxVersions, removed: limits.maxFiles };
  await store.workspace.remove(place, removal, keep, transaction);
  return removal;
}

/** Returns whether a text is the path of a file. */
export function isFilePath(text: string): boolean {
  return PATH.test(text) && !text.includes('..');
}

const PATH = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,255}$/;

/** Makes the `not_found` error of a file or version. */
export function noSuchFile(): HostError {
  return new HostError('not_found', 'There is no such file or version.', { details: undefined });
}

function demand(precondition: Precondition, newest: NewestVersion | undefined): void {
  if (precondition(newest?.etag)) return;
  const currentVersion = newest?.etag === undefined ? 0 : newest.version;
  const message = 'The precondition does not hold: the file has changed. Read it again, and repeat the change.';
  throw new HostError('workspace_conflict', message, { details: { currentVersion } });
}

/** The log records the version only, because a path may hold personal data. */
function fact(
  principal: Principal,
  action: 'workspace.put' | 'workspace.remove',
  { version, updatedAt }: { readonly version: number; readonly updatedAt: number },
): AuditFact {
  const { workspace } = placeOf(principal.tenancy);
  return factAbout(principal, { action, target: workspace ?? null, at: updatedAt, workspace, details: { version } });
}

function tooLarge(maxBytes: number, providedBytes: number): HostError {
  const message = `A file may have at most ${maxBytes} bytes of UTF-8; this one has ${providedBytes}.`;
  return new HostError('workspace_too_large', message, { details: { maxBytes, providedBytes } });
}

function tooMany(maxFiles: number): HostError {
  const message = `A workspace may have at most ${maxFiles} files. Delete one first.`;
  return new HostError('workspace_too_large', message, { details: { maxFiles } });
}
