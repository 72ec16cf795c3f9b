import { Link } from 'wouter';
import { usageFigure as texts } from '../texts/usage.ts';
import { writeUsd } from '../ui/money.ts';
import { columnFormat, writePercent } from '../ui/number.ts';

/** A bar of a {@link BarList}. */
export interface Bar {
  readonly label: string;
  readonly value: number;
  /** The cost of models; missing: not known. */
  readonly costUsd?: number;
  /** The address of its details; missing: none. */
  readonly address?: string | undefined;
}

const shownBars = 10;

/** Horizontal bars with their values and shares, as many as fit well; the table has all. A full bar is the total. */
export function BarList({ label, bars }: { readonly label: string; readonly bars: readonly Bar[] }) {
  const total = bars.reduce((sum, { value }) => sum + value, 0) || 1;
  const more = bars.length - shownBars;
  const write = columnFormat(bars.map(({ value }) => value));
  return (
    <>
      <ul className="bars" aria-label={label}>
        {bars.slice(0, shownBars).map(({ label: name, value, costUsd = 0, address }) => (
          <li key={name}>
            {address === undefined ? <span className="name">{name}</span> : <Link href={address}>{name}</Link>}
            <span className="number">
              {write(value)}
              {costUsd > 0 && <small className="soft"> {writeUsd(costUsd)}</small>}
            </span>
            <span className="soft number share">{writePercent(value / total)}</span>
            <span className="track" aria-hidden="true">
              <i style={{ width: `${(value / total) * 100}%` }} />
            </span>
          </li>
        ))}
      </ul>
      {more > 0 && <p className="soft">{texts.more({ count: more })}</p>}
    </>
  );
}
