import { useEffect, useRef, useState } from 'react';

/** A bar of a chart. */
export interface Bar {
  readonly label: string;
  readonly value: number;
}

interface BarsProps {
  /** The description of the chart for screen readers; the table beside it has the numbers. */
  readonly label: string;
  readonly bars: readonly Bar[];
  /** Formats a value. */
  readonly write: (value: number) => string;
}

const height = 200;
const left = 44;
const bottom = 24;

/** Columns over time, as wide as the available space. Its labels have the normal text size, on phones too. */
export function Columns({ label, bars, write }: BarsProps) {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(640);
  useEffect(() => {
    if (!box.current) return;
    const observer = new ResizeObserver(([entry]) => {
      if (entry && entry.contentRect.width > 0) setWidth(Math.round(entry.contentRect.width));
    });
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  return (
    <div ref={box} className="chart-box">
      <Drawn {...{ label, bars, write, width }} />
    </div>
  );
}

function Drawn({ label, bars, write, width }: BarsProps & { readonly width: number }) {
  const top = niceTop(Math.max(0, ...bars.map(({ value }) => value)));
  const step = (width - left) / Math.max(1, bars.length);
  const high = height - bottom - 8;
  const every = Math.ceil((bars.length * 64) / (width - left));
  const yOf = (value: number) => 8 + high - (value / top) * high;
  return (
    <svg className="chart" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
      {[0, 0.5, 1].map((part) => (
        <g key={part}>
          <line className="grid" x1={left} x2={width} y1={yOf(top * part)} y2={yOf(top * part)} />
          <text x={left - 6} y={yOf(top * part) + 4} textAnchor="end">
            {write(top * part)}
          </text>
        </g>
      ))}
      {bars.map(({ label: name, value }, index) => (
        <g key={name}>
          <rect
            className="value"
            x={left + index * step + Math.min(2, step * 0.15)}
            y={yOf(value)}
            width={Math.max(1, step - Math.min(4, step * 0.3))}
            height={Math.max(0, 8 + high - yOf(value))}
            rx={Math.min(3, step / 4)}
          >
            <title>{`${name}: ${write(value)}`}</title>
          </rect>
          {index % every === 0 && left + (index + 0.5) * step + 20 <= width && (
            <text x={left + index * step + step / 2} y={height - 6} textAnchor="middle">
              {name.slice(5)}
            </text>
          )}
        </g>
      ))}
    </svg>
  );
}

/** Horizontal bars, longest first or in the given order. */
export function Rows({ label, bars, write }: BarsProps) {
  const top = Math.max(0, ...bars.map(({ value }) => value)) || 1;
  const row = 30;
  return (
    <svg className="chart" viewBox={`0 0 420 ${bars.length * row + 4}`} role="img" aria-label={label}>
      {bars.map(({ label: name, value }, index) => (
        <g key={name}>
          <text x={0} y={index * row + 12}>
            {name.length > 42 ? `${name.slice(0, 41)}…` : name}
          </text>
          <text x={420} y={index * row + 12} textAnchor="end">
            {write(value)}
          </text>
          <rect className="track" x={0} y={index * row + 17} width={420} height={7} rx={3.5} />
          <rect className="value" x={0} y={index * row + 17} width={(value / top) * 420} height={7} rx={3.5} />
        </g>
      ))}
    </svg>
  );
}

// The smallest of 1, 2, 5 times a power of ten that is not below the value.
function niceTop(value: number): number {
  if (value <= 0) return 1;
  // Below the rounding of the labels.
  if (value < 0.1) return 0.1;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10].find((step) => step * power >= value) ?? 10) * power;
}
