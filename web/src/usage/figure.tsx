import { type ReactNode, useId, useState } from 'react';
import { Link } from 'wouter';
import { csvOf, save } from '../manage/kit/save.ts';
import { usageFigure as texts } from '../texts/usage.ts';
import { Button } from '../ui/button.tsx';
import { writeUsd } from '../ui/money.ts';
import { columnFormat, roundForFile } from '../ui/number.ts';

/** A row of a figure's table. */
export interface FigureRow {
  readonly key: string;
  readonly label: string;
  /** The label in the CSV file, if it is another. */
  readonly csvLabel?: string;
  /** A number for each quantity. */
  readonly values: readonly number[];
  readonly address?: string | undefined;
}

interface FigureProps {
  readonly title: string;
  /** The headers of the table: the category and each quantity. */
  readonly heads: readonly string[];
  readonly rows: readonly FigureRow[];
  /** The header of the quantity in US dollars; null: none is. */
  readonly moneyHead?: string | null;
  /** The name of the downloaded file. */
  readonly file: string;
  /** A note if not everything is shown. */
  readonly note?: ReactNode;
  /** True for a figure as wide as the page. */
  readonly isWide?: boolean;
  /** True if the rows go from old to new, and the table from new to old. */
  readonly isNewestFirst?: boolean;
  /** The chart. */
  readonly children: ReactNode;
}

/** A chart, which a button replaces by its table, and a download. */
export function Figure({
  title,
  heads,
  rows,
  moneyHead = null,
  file,
  note,
  isWide = false,
  isNewestFirst = false,
  children,
}: FigureProps) {
  const id = useId();
  const [isTable, setTable] = useState(false);
  const isEmpty = rows.every(({ values }) => values.every((value) => value === 0));
  const exportCsv = () =>
    save(
      `${file}.csv`,
      'text/csv',
      csvOf(
        heads,
        rows.map(({ label, csvLabel, values }) =>
          Object.fromEntries(
            heads.map((head, at) => [head, at === 0 ? (csvLabel ?? label) : roundForFile(values[at - 1] ?? 0)]),
          ),
        ),
      ),
    );
  return (
    <section className={isWide ? 'card figure wide' : 'card figure'} aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        <div className="actions">
          <Button
            size="small"
            disabled={isEmpty}
            aria-label={isTable ? texts.showChart({ title }) : texts.showTable({ title })}
            onClick={() => setTable(!isTable)}
          >
            {isTable ? texts.chart : texts.table}
          </Button>
          <Button size="small" disabled={isEmpty} aria-label={texts.exportTitle({ title })} onClick={exportCsv}>
            {texts.exportCsv}
          </Button>
        </div>
      </header>
      {isEmpty && <p className="soft">{texts.noData}</p>}
      {!isEmpty &&
        (isTable ? (
          <FigureTable {...{ title, heads, moneyHead }} rows={isNewestFirst ? rows.toReversed() : rows} />
        ) : (
          children
        ))}
      {note && <p className="soft">{note}</p>}
    </section>
  );
}

function FigureTable({ title, heads, rows, moneyHead }: Pick<FigureProps, 'title' | 'heads' | 'rows' | 'moneyHead'>) {
  const formats = heads
    .slice(1)
    .map((head, at) => (head === moneyHead ? writeUsd : columnFormat(rows.map(({ values }) => values[at] ?? 0))));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
    <section className="figure-table" tabIndex={0} aria-label={texts.asTable({ title })}>
      <table>
        <thead>
          <tr>
            {heads.map((head, at) => (
              <th scope="col" className={at === 0 ? undefined : 'number'} key={head}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, label, values, address }) => (
            <tr key={key}>
              <th scope="row">{address === undefined ? label : <Link href={address}>{label}</Link>}</th>
              {values.map((value, at) => (
                <td className="number" key={heads[at + 1]}>
                  {formats[at]?.(value)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
