/**
 * The id of ours that a path names, for records. Any other text may be a credential in the wrong place, so it is
 * withheld.
 */
export function resourceIn({ runId, webhookId, triggerId }: Readonly<Record<string, string>>): string | undefined {
  const id = runId ?? webhookId ?? triggerId;
  if (id === undefined) return undefined;
  return MINTED_ID.test(id) ? id.replace(/%2f/i, '/') : 'withheld';
}

const MINTED_ID = /^(?:[A-Za-z0-9._~-]{1,128}(?:\/|%2F))?(?:run|whk|trg)_[0-9a-z]{26}$/i;
