import type { ReactNode } from 'react';
import { visible } from './visible.ts';

/** A column of {@link Table}. */
export interface Column<Row> {
  /** The header; also the label of each cell in the narrow layout. */
  readonly label: string;
  readonly cell: (row: Row) => ReactNode;
  /** Numbers are right-aligned. */
  readonly isNumber?: boolean;
  /** For screen readers only: the column with a row's buttons. */
  readonly isLabelHidden?: boolean;
}

interface TableProps<Row> {
  /** A label for the rows. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
}

/** A table; on narrow screens each row is a card with labelled lines. */
export function Table<Row>({ label, columns, rows, keyOf }: TableProps<Row>) {
  return (
    <div className="table-box">
      <table className="table">
        <caption className="for-readers">{label}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th scope="col" key={column.label} className={column.isNumber ? 'number' : undefined}>
                <span className={column.isLabelHidden ? 'for-readers' : undefined}>{column.label}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map((column) => (
                <td key={column.label} data-label={column.label} className={column.isNumber ? 'number' : undefined}>
                  {shown(column.cell(row))}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const shown = (cell: ReactNode) => (typeof cell === 'string' ? visible(cell) : cell);
