import { scaleBand, scaleLinear } from '@visx/scale';
import { Bar, LinePath } from '@visx/shape';
import { writeAxisNumber } from '../ui/number.ts';

/** A point in time of a chart, a day in all charts here. Null: not known, such as a day to come. */
export interface Point {
  readonly key: string;
  /** The day in full, for tooltips and screen readers. */
  readonly label: string;
  /** The day as the axis shows it. */
  readonly short: string;
  readonly value: number | null;
  /** The cost of models on the day; missing: not known. */
  readonly costUsd?: number;
  /** The value of the same day of the previous period, and that day; null: not compared. */
  readonly before?: { readonly label: string; readonly value: number } | null;
}

/** Columns for amounts of each day, a line for a running total. */
export type PlotKind = 'columns' | 'line';

interface PlotProps {
  readonly kind: PlotKind;
  readonly points: readonly Point[];
  /** The unit of the values, above the axis. */
  readonly unit: string;
  readonly width: number;
  /** The index of the highlighted point; null: none. */
  readonly active: number | null;
  /** A limit, drawn as a dashed line with its label; null: none. */
  readonly limit?: { readonly value: number; readonly label: string } | null;
}

const height = 220;
const left = 48;
const [top, bottom] = [26, 24];
/** The least distance between two days of the axis, in pixels, and half the width of such a text. */
const [labelStep, labelHalf] = [76, 24];

/** Returns the horizontal scale of a chart: the bands of its points. */
export const bandsOf = (points: readonly Point[], width: number) =>
  scaleBand({ domain: points.map(({ key }) => key), range: [left, Math.max(left + 1, width)], padding: 0.2 });

/** The drawing of a chart. It has no texts for screen readers: `TimeChart` has them. */
export function Plot({ kind, points, unit, width, active, limit = null }: PlotProps) {
  const bands = bandsOf(points, width);
  const highest = Math.max(
    0.1,
    limit?.value ?? 0,
    ...points.map(({ value, before }) => Math.max(value ?? 0, before?.value ?? 0)),
  );
  const heights = scaleLinear({ domain: [0, highest], range: [height - bottom, top], nice: 3 });
  const yOf = (value: number) => heights(value) ?? 0;
  const middleOf = ({ key }: Point) => (bands(key) ?? 0) + bands.bandwidth() / 2;
  const every = Math.ceil((points.length * labelStep) / Math.max(1, width - left));
  const activePoint = active === null ? undefined : points[active];
  const known = points.filter(({ value }) => value !== null);
  const compared = points.filter(({ before }) => before);
  return (
    <svg className="chart" viewBox={`0 0 ${width} ${height}`} aria-hidden="true" focusable="false">
      {heights.ticks(3).map((tick) => (
        <g key={tick}>
          <line className="grid" x1={left} x2={width} y1={yOf(tick)} y2={yOf(tick)} />
          <text x={left - 8} y={yOf(tick) + 4} textAnchor="end">
            {writeAxisNumber(tick)}
          </text>
        </g>
      ))}
      <text x={left - 8} y={12} textAnchor="end">
        {unit}
      </text>
      {activePoint && (
        <rect
          className="active"
          x={(bands(activePoint.key) ?? 0) - (bands.step() - bands.bandwidth()) / 2}
          y={top}
          width={bands.step()}
          height={height - bottom - top}
        />
      )}
      {kind === 'columns' &&
        points.map(({ key, value }) => (
          <Bar
            key={key}
            className="value"
            x={bands(key) ?? 0}
            y={yOf(value ?? 0)}
            width={Math.max(1, bands.bandwidth())}
            height={Math.max(0, height - bottom - yOf(value ?? 0))}
            rx={Math.min(3, bands.bandwidth() / 4)}
          />
        ))}
      {kind === 'line' && (
        <LinePath className="line" data={[...known]} x={middleOf} y={({ value }) => yOf(value ?? 0)} />
      )}
      {['halo', 'before'].map(
        (name) =>
          compared.length > 1 && (
            <LinePath
              key={name}
              className={`line ${name}`}
              data={[...compared]}
              x={middleOf}
              y={({ before }) => yOf(before?.value ?? 0)}
            />
          ),
      )}
      {limit && (
        <>
          <line className="limit" x1={left} x2={width} y1={yOf(limit.value)} y2={yOf(limit.value)} />
          {/* A running total begins low: at its beginning, the limit has room. */}
          <text className="limit-label" x={left + 4} y={yOf(limit.value) - 7}>
            {limit.label}
          </text>
        </>
      )}
      {activePoint?.value != null && kind === 'line' && (
        <circle className="mark" cx={middleOf(activePoint)} cy={yOf(activePoint.value)} r={4} />
      )}
      {points.map(
        (point, index) =>
          // The newest day always has its text.
          (points.length - 1 - index) % every === 0 && (
            <text key={point.key} x={Math.min(middleOf(point), width - labelHalf)} y={height - 6} textAnchor="middle">
              {point.short}
            </text>
          ),
      )}
    </svg>
  );
}
