import { z } from 'zod';
import { jsonOf, PROVEN_ENTRY, type ProvenEntry } from './audit-file.ts';
import type { HostApi } from './host-api.ts';

/** A log that can be exported. */
export interface ExportSource {
  /** Returns the signed head of the log. */
  note(): Promise<string>;
  /** Returns up to 200 entries with their proofs, newest first. */
  page(query: ExportQuery): Promise<ExportPage>;
}

/** The entries that are exported. */
export interface ExportQuery {
  /** The size of the tree of the signed head. */
  readonly treeSize: number;
  /** Entries before this sequence. */
  readonly before?: number | undefined;
  readonly action?: string | undefined;
  readonly principal?: string | undefined;
  readonly tenant?: string | undefined;
}

/** A page of an export. */
export interface ExportPage {
  readonly entries: readonly ProvenEntry[];
  /** The `before` of the next page. Undefined on the last one. */
  readonly nextBefore?: number | undefined;
}

/** Makes the source of a running host. The host decides by the key which tenant it lists. */
export function hostSource(host: HostApi): ExportSource {
  return {
    note: () => host.text('/audit/checkpoint'),
    async page({ treeSize, before, action, principal }) {
      const query = new URLSearchParams({
        ...(action !== undefined && { action }),
        ...(principal !== undefined && { principal }),
        treeSize: String(treeSize),
        limit: '200',
        ...(before !== undefined && { before: String(before) }),
      });
      const page = PAGE.safeParse(jsonOf(await host.text(`/audit?${query}`))).data;
      if (page === undefined) throw new Error('the host answered with no page of entries.');
      return page;
    },
  };
}

const PAGE = z.object({ entries: z.array(PROVEN_ENTRY).max(200), nextBefore: z.int().min(1).optional() });
