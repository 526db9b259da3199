/** Where a secret belongs: a workspace, or the whole tenant where none is named; live and test apart. */
export interface ByokPlace {
  readonly tenant: string;
  readonly workspace?: string;
  readonly mode: 'live' | 'test';
}

/** A secret that a tenant brings, for example its own key of an AI provider. Only runs of its place ever see it opened. */
export interface ByokSecret extends ByokPlace {
  readonly name: string;
  readonly sealed: Uint8Array;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** What a sealed secret is bound to: moved to another row, it does not open. */
export function sealedFor({ tenant, workspace, mode }: ByokPlace, name: string): string {
  return JSON.stringify(['byok', tenant, workspace ?? null, mode, name]);
}
