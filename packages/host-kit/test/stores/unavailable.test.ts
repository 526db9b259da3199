import { expect, test } from 'vitest';
import { isUnavailable as isPostgresUnavailable } from '../../src/stores/postgres/unavailable.ts';
import { isUnavailable as isSqliteUnavailable } from '../../src/stores/sqlite/unavailable.ts';

const withCode = (code: string | undefined, message = 'failed') =>
  Object.assign(new Error(message), code === undefined ? {} : { code });
const sqlite = (errcode: number) => Object.assign(new Error('failed'), { code: 'ERR_SQLITE_ERROR', errcode });

test.each([
  ['no connection', withCode('ECONNREFUSED')],
  ['a name that does not resolve', withCode('EAI_AGAIN')],
  ['several addresses that refuse', new AggregateError([withCode('ECONNREFUSED'), withCode('ECONNREFUSED')])],
  ['a connection that broke', withCode(undefined, 'Connection terminated unexpectedly')],
  ['a pool without a free connection', withCode(undefined, 'timeout exceeded when trying to connect')],
  ['a server that does not answer', withCode(undefined, 'Query read timeout')],
  ['a shutdown', withCode('57P01')],
  ['a start', withCode('57P03')],
  ['too many connections', withCode('53300')],
  ['a full disk', withCode('53100')],
  ['an I/O error', withCode('58030')],
  ['a read-only server', withCode('25006')],
  ['a statement over its time limit', withCode('57014')],
  ['a deadlock after every retry', withCode('40P01')],
  ['one of these as a cause', new Error('failed', { cause: withCode('08006') })],
])('PostgreSQL is unavailable: %s', (_what, error) => {
  expect(isPostgresUnavailable(error)).toBe(true);
});

test.each([
  ['a unique violation', withCode('23505')],
  ['a syntax error', withCode('42601')],
  ['a missing table', withCode('42P01')],
  ['another error', new TypeError('x is undefined')],
  ['no error', 'ECONNREFUSED'],
  ['undefined', undefined],
])('the program is wrong, and PostgreSQL is not unavailable: %s', (_what, error) => {
  expect(isPostgresUnavailable(error)).toBe(false);
});

test.each([5, 6, 8, 10, 11, 13, 14, 26, 778, 1034, 2314])('SQLite is unavailable: result code %i', (errcode) => {
  expect(isSqliteUnavailable(sqlite(errcode))).toBe(true);
  expect(isSqliteUnavailable(new Error('failed', { cause: sqlite(errcode) }))).toBe(true);
});

test.each([1, 19, 787, 20, 21])('the program is wrong, and SQLite is not unavailable: result code %i', (errcode) => {
  expect(isSqliteUnavailable(sqlite(errcode))).toBe(false);
});
