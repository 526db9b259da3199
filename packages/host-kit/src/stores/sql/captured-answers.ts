import type { CapturedAnswer, PagedAnswer } from '../../ports/captured-answers.ts';
import { bytes, integer, type Row, text } from './row.ts';

export function answerOf(row: Row): PagedAnswer {
  return { position: integer(row, 'position'), ...capturedOf(row) };
}

export function capturedOf(row: Row): CapturedAnswer {
  return {
    webhookId: text(row, 'webhook_id'),
    deliveryId: text(row, 'delivery_id'),
    attempt: integer(row, 'attempt'),
    at: integer(row, 'at'),
    expiresAt: integer(row, 'expires_at'),
    sealed: bytes(row, 'sealed'),
  };
}
