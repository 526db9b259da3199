export { mintId } from './mint-id.ts';
export {
  bindId,
  type IdContext,
  isTenantId,
  isWorkspaceId,
  projectId,
  type ResolvedId,
  resolveId,
} from './tenant-bound-id.ts';
