/**
 * Loaded before the built reference host, makes it the next release: its schema for PostgreSQL has one more migration.
 * With `?contract` a second one removes a part that hosts of the present release could use.
 */
import { registerHooks } from 'node:module';

const EXPANSION = `{ kind: 'expand', sql: "ALTER TABLE runs ADD COLUMN added_later text NOT NULL DEFAULT ''; CREATE TABLE added (a integer)" }`;
const CONTRACTION = `{ kind: 'contract', sql: 'DROP TABLE added' }`;

const added = new URL(import.meta.url).search === '?contract' ? `${EXPANSION}, ${CONTRACTION}` : EXPANSION;
/** The initial schema for PostgreSQL in the bundle: the one with a clean-up. */
const INITIAL = /\nvar (initial\w*) = \[[^\]]*\bcleanUp\w*\b[^\]]*\]/;

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    const source = loaded.source == null ? '' : Buffer.from(loaded.source).toString();
    if (!source.includes('CREATE TABLE held_subscriptions')) return loaded;
    const begin = source.indexOf(`[contract(${INITIAL.exec(source)?.[1]})`);
    if (begin === -1) throw new Error(`${url}: has no list of migrations.`);
    const end = source.indexOf(']', begin);
    return { ...loaded, source: `${source.slice(0, end)}, ${added}${source.slice(end)}` };
  },
});
