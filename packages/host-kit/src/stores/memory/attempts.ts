import { ATTEMPTS_KEPT, type AttemptLog, type AttemptRecord } from '../../webhooks/attempt-log.ts';
import { type Journal, put } from './journal.ts';

export function attemptLog(journal: Journal): AttemptLog {
  const attempts = new Map<string, readonly AttemptRecord[]>();
  return {
    async record(ended, transaction) {
      for (const attempt of ended) {
        const { webhookId } = attempt;
        const newest = [attempt, ...(attempts.get(webhookId) ?? [])].slice(0, ATTEMPTS_KEPT);
        put(journal, transaction, attempts, webhookId, newest);
      }
    },
    async list(webhookId, limit) {
      return (attempts.get(webhookId) ?? []).slice(0, limit);
    },
  };
}
