import type { ReactNode } from 'react';
import { common } from '../../texts/common.ts';
import { More } from '../../ui/more.tsx';
import { Empty } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { useListKeys } from '../../ui/use-list-keys.ts';

interface ListProps<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  /** The edges of a Relay connection. */
  readonly edges: readonly { readonly node: Row }[];
  readonly keyOf: (row: Row) => string;
  /** Said if there are none. The button that creates one is in the head of the page. */
  readonly empty: { readonly title: string; readonly text: string };
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  readonly onMore: () => void;
}

/**
 * A list of managed objects: a table with further pages, or a message if it is empty. `j` and `k` move along its links.
 */
export function List<Row>({ label, columns, edges, keyOf, empty, hasMore, isLoading, onMore }: ListProps<Row>) {
  const list = useListKeys<HTMLDivElement>();
  if (edges.length === 0 && hasMore) {
    // The filter runs in the browser: unread pages may contain matches.
    return <More {...{ hasMore, isLoading, onMore }} />;
  }
  if (edges.length === 0) {
    return <Empty {...empty} />;
  }
  return (
    <>
      <div className="card" ref={list}>
        <Table label={label} columns={columns} rows={edges.map(({ node }) => node)} keyOf={keyOf} />
      </div>
      <More hasMore={hasMore} isLoading={isLoading} onMore={onMore} />
    </>
  );
}

/** The column with the buttons of a row. */
export function actionsColumn<Row>(cell: (row: Row) => ReactNode): Column<Row> {
  return {
    label: common.actions,
    isLabelHidden: true,
    isNumber: true,
    cell: (row) => <div className="row-acts">{cell(row)}</div>,
  };
}
