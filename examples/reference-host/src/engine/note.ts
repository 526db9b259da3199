import { HostError } from '@svc/host-kit';
import { NodeFailure, type Workflow } from './workflow.ts';

/**
 * Adds a line to the workspace file `path`, as it was when the run started, and tells the versions before and after. It
 * fails when the file has changed since.
 */
export const note: Workflow = {
  refuse({ path, line }) {
    if (typeof path !== 'string') return { field: 'inputs.path', problem: 'must be the path of a file' };
    return typeof line === 'string' ? undefined : { field: 'inputs.line', problem: 'must be a string' };
  },
  run: ({ path, line }, { node }) =>
    node('note', 'sample.note', async ({ files }) => {
      const before = await files.read(String(path));
      const content = `${before?.content ?? ''}${String(line)}\n`;
      const condition = { etag: before?.etag ?? null, nodeId: 'note' };
      const after = await files.put({ path: String(path), content }, condition).catch((error: unknown) => {
        throw failureOf(error);
      });
      return { before: before?.version ?? 0, after: after.version };
    }),
};

function failureOf(error: unknown): unknown {
  if (error instanceof TypeError) return failed('validation_error', 'inputs.path: must be the path of a file.');
  return HostError.is(error) ? failed(error.code, error.message) : error;
}

function failed(code: string, message: string): NodeFailure {
  return new NodeFailure({ code, message, retryable: false });
}
