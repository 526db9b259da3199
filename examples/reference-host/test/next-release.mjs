/**
 * Loaded before the built reference host, makes it the next release: its schema for PostgreSQL has one more migration.
 * With `?contract` a second one removes a part that hosts of the present release could use.
 */
import { registerHooks } from 'node:module';

const EXPANSION = `{ kind: 'expand', sql: "ALTER TABLE runs ADD COLUMN added_later text NOT NULL DEFAULT ''; CREATE TABLE added (a integer)" }`;
const CONTRACTION = `{ kind: 'contract', sql: 'DROP TABLE added' }`;

const added = new URL(import.meta.url).search === '?contract' ? `${EXPANSION}, ${CONTRACTION}` : EXPANSION;
/** The end of the list in the bundle. */
const LIST = /(\nvar MIGRATIONS\w* = \[\n[^;]*?expand\(heldSubscriptions\)[^;]*?)\n\];/;

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    const source = loaded.source == null ? '' : Buffer.from(loaded.source).toString();
    if (!source.includes('CREATE TABLE held_subscriptions')) return loaded;
    if (!LIST.test(source)) throw new Error(`${url}: has no list of migrations.`);
    return { ...loaded, source: source.replace(LIST, (_, list) => `${list}, ${added}];`) };
  },
});
