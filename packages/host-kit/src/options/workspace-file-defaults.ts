import { LIMIT_VALUES } from '../discovery/limit-values.ts';
import type { WorkspaceFileLimits } from '../workspace/files.ts';

/** The default limits of workspace files. @see Interface: Limits */
export const WORKSPACE_FILE_DEFAULTS: WorkspaceFileLimits = {
  maxFileBytes: LIMIT_VALUES['workspace.maxFileBytes'],
  maxFiles: 256,
  maxVersions: 10,
};
