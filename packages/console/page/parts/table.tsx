import type { ComponentChildren, VNode } from 'preact';
import type { Paged } from '../data/paged.ts';
import { Failure } from './words.tsx';

/** A column: its heading, and the cell of a row. */
export interface Column<R> {
  readonly name: string;
  readonly cell: (row: R) => ComponentChildren;
}

/**
 * A table, which narrow screens show as one card a row. The roles are written out, because a browser drops those of a table
 * whose rows are no longer laid out as one.
 */
export function Table<R>(given: {
  readonly label: string;
  readonly columns: readonly Column<R>[];
  readonly rows: readonly R[];
  readonly keyOf: (row: R) => string;
}): VNode {
  const { label, columns, rows, keyOf } = given;
  return (
    // biome-ignore-start lint/a11y/noRedundantRoles: see above
    <table class="rows" role="table" aria-label={label}>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(({ name }) => (
            <th key={name} scope="col" role="columnheader">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr key={keyOf(row)} role="row">
            {columns.map(({ name, cell }) => (
              <td key={name} role="cell" data-name={name}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
    // biome-ignore-end lint/a11y/noRedundantRoles: see above
  );
}

/** A list that grows page by page, with its states: being read, empty, refused, and with more to read. */
export function PagedTable<R>(given: {
  readonly label: string;
  readonly columns: readonly Column<R>[];
  readonly paged: Paged<R>;
  readonly keyOf: (row: R) => string;
  readonly empty: ComponentChildren;
}): VNode {
  const { label, columns, paged, keyOf, empty } = given;
  const { rows, isLoading, hasMore, error, more, reload } = paged;
  return (
    <div aria-busy={isLoading}>
      {rows.length > 0 && <Table label={label} columns={columns} rows={rows} keyOf={keyOf} />}
      {error !== undefined && <Failure error={error} retry={rows.length === 0 ? reload : more} />}
      {rows.length === 0 && isLoading && <p class="quiet">Reading …</p>}
      {rows.length === 0 && !isLoading && error === undefined && !hasMore && empty}
      {hasMore && (
        <p class="after">
          <button type="button" onClick={more} disabled={isLoading}>
            Show more
          </button>
          <span class="quiet">{rows.length.toLocaleString('en')} shown</span>
        </p>
      )}
    </div>
  );
}
