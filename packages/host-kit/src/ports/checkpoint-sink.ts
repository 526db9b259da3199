export type { CheckpointSink } from '@svc/auth/audit';
