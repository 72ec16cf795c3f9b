import { useId } from 'react';
import { csvOf, save } from '../manage/kit/save.ts';
import { Button } from '../ui/button.tsx';
import { writeNumber } from '../ui/number.ts';
import { type Bar, Columns, Rows } from './bars.tsx';

interface FigureProps {
  readonly title: string;
  /** The headers of the table: the category and the quantity. */
  readonly heads: readonly [string, string];
  readonly bars: readonly Bar[];
  readonly kind: 'columns' | 'rows';
  /** The name of the downloaded file. */
  readonly file: string;
  /** A note if not everything is shown. */
  readonly note?: string | null;
}

/** A chart with its table and a download. */
export function Figure({ title, heads, bars, kind, file, note }: FigureProps) {
  const id = useId();
  const Chart = kind === 'columns' ? Columns : Rows;
  const isEmpty = bars.every(({ value }) => value === 0);
  const exportCsv = () =>
    save(
      `${file}.csv`,
      'text/csv',
      csvOf(
        heads,
        bars.map(({ label, value }) => ({ [heads[0]]: label, [heads[1]]: value })),
      ),
    );
  return (
    <section className="card figure" aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        <Button size="small" disabled={isEmpty} aria-label={`Export CSV: ${title}`} onClick={exportCsv}>
          Export CSV
        </Button>
      </header>
      {isEmpty ? (
        <p className="soft">No data for these days.</p>
      ) : (
        <div className={`figure-body ${kind}`}>
          <Chart label={`${title}, as a chart`} bars={bars} write={writeNumber} />
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard. */}
          <section className="figure-table" tabIndex={0} aria-label={`${title}, as a table`}>
            <table>
              <thead>
                <tr>
                  <th scope="col">{heads[0]}</th>
                  <th scope="col" className="number">
                    {heads[1]}
                  </th>
                </tr>
              </thead>
              <tbody>
                {bars.map(({ label, value }) => (
                  <tr key={label}>
                    <th scope="row">{label}</th>
                    <td className="number">{writeNumber(value)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </section>
        </div>
      )}
      {note && <p className="soft">{note}</p>}
    </section>
  );
}
