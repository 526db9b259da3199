/** The part of a PostgreSQL client that is used. A `Pool` of `pg` fits, and so does any client with `$1` parameters. */
export interface PostgresQuery {
  /** Runs one statement, and resolves to its rows. */
  query(text: string, values: unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
}
