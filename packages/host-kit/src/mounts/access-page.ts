import { isOpaqueId } from '@svc/auth';
import { z } from 'zod';
import { invalid } from '../errors.ts';
import type { MountCall } from '../http/route.ts';
import type { JsonObject } from '../json.ts';
import { LIMIT, ok, pageLimit } from './owned-webhook.ts';

/** The query of a list in the order of ids. */
export const PAGE_QUERY: Readonly<Record<'limit' | 'after', z.ZodType>> = {
  limit: LIMIT,
  after: z.string().optional().describe('The `nextAfter` of the previous page.'),
};

/** Answers with a page, of which one record more was read. */
export async function pageOf<R extends { readonly id: string }>(
  { query }: MountCall,
  name: string,
  view: (record: R) => JsonObject,
  read: (page: { readonly after: string; readonly limit: number }) => Promise<readonly R[]>,
) {
  const limit = pageLimit(query);
  const found = await read({ after: idQuery(query, 'after') ?? '', limit: limit + 1 });
  const page = found.slice(0, limit);
  const last = page.at(-1);
  const more = found.length > limit && last !== undefined;
  return ok({ [name]: page.map(view), ...(more && { nextAfter: last.id }) });
}

/** Reads an id in the query. */
export function idQuery(query: URLSearchParams, name: string): string | undefined {
  const text = query.get(name) ?? undefined;
  if (text === undefined || text === '' || isOpaqueId(text)) return text;
  throw invalid({ field: `query.${name}`, problem: 'must be an id' });
}

/** Reads an id in the path. Another text is read as `''`, which names no record. */
export function idInPath({ params }: MountCall, name: string): string {
  const id = params[name] ?? '';
  return isOpaqueId(id) ? id : '';
}

/** The id of a record in the path. */
export const pathId = (what: string): z.ZodType => z.string().min(1).max(256).describe(what);
