import { type KeyboardEvent, type PointerEvent, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { usageChart as texts } from '../texts/usage.ts';
import { writeUsd } from '../ui/money.ts';
import { bandsOf, Plot, type PlotKind, type Point } from './plot.tsx';

interface TimeChartProps {
  readonly label: string;
  readonly kind: PlotKind;
  readonly points: readonly Point[];
  readonly limit?: { readonly value: number; readonly label: string } | null;
  /** The address of the details of a point; missing: there are none. */
  readonly addressOf?: (point: Point) => string;
}

/**
 * A chart over days. The mouse, a tap or the arrow keys select a day, whose values a tooltip shows and screen readers say. A click
 * or Enter opens the details of the day; after a tap, the tooltip has the link to them.
 */
export function TimeChart({ label, kind, points, limit = null, addressOf }: TimeChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const hint = useId();
  const width = useWidth(box);
  const [, navigate] = useLocation();
  const [active, setActive] = useState<number | null>(null);
  const [isTapped, setTapped] = useState(false);
  const bands = bandsOf(points, width);
  const last = points.length - 1;
  const shown = active === null ? undefined : points[Math.min(active, last)];
  const indexAt = (event: PointerEvent) => {
    const x = event.clientX - event.currentTarget.getBoundingClientRect().left;
    return Math.max(0, Math.min(last, Math.floor((x - (bands.range()[0] as number)) / bands.step())));
  };
  const press = (event: KeyboardEvent) => {
    const at = active ?? last;
    if (event.key === 'Enter' && shown && addressOf) navigate(addressOf(shown));
    else if (event.key === 'Escape' && active !== null) setActive(null);
    else {
      const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 7, PageDown: -7 } as const;
      const step = event.key === 'Home' ? -last : event.key === 'End' ? last : steps[event.key as keyof typeof steps];
      if (step === undefined) return;
      setActive(active === null ? (event.key === 'Home' ? 0 : last) : Math.max(0, Math.min(last, at + step)));
    }
    setTapped(false);
    event.preventDefault();
  };
  const now = Math.min(active ?? last, last);
  return (
    <div className="chart-box" ref={box}>
      <div
        className={addressOf ? 'chart-area opens' : 'chart-area'}
        role="slider"
        tabIndex={0}
        aria-label={label}
        aria-describedby={hint}
        aria-valuemin={1}
        aria-valuemax={points.length}
        aria-valuenow={now + 1}
        aria-valuetext={points[now] && pointText(points[now])}
        onKeyDown={press}
        onFocus={(event) => event.currentTarget.matches(':focus-visible') && setActive((before) => before ?? last)}
        onBlur={() => !isTapped && setActive(null)}
        onPointerDown={(event) => {
          const isTouch = event.pointerType !== 'mouse';
          setTapped(isTouch);
          setActive(indexAt(event));
        }}
        onPointerMove={(event) => event.pointerType === 'mouse' && setActive(indexAt(event))}
        onPointerLeave={(event) => event.pointerType === 'mouse' && setActive(null)}
        onClick={() => shown && addressOf && !isTapped && navigate(addressOf(shown))}
      >
        <Plot {...{ kind, points, width, active, limit }} unit={texts.unit} />
      </div>
      <p className="for-readers" id={hint}>
        {addressOf ? texts.keysHintOpen : texts.keysHint}
      </p>
      {shown && (
        <Tooltip point={shown} x={(bands(shown.key) ?? 0) + bands.bandwidth() / 2} width={width}>
          {isTapped && addressOf && <Link href={addressOf(shown)}>{texts.showSessions}</Link>}
        </Tooltip>
      )}
      {points.some(({ before }) => before) && (
        <p className="legend" aria-hidden="true">
          <span>
            <i className="value" /> {texts.thisPeriod}
          </span>
          <span>
            <i className="before" /> {texts.previousPeriod}
          </span>
        </p>
      )}
    </div>
  );
}

/** The distance between a point and its tooltip, in pixels. */
const tipGap = 12;

interface TooltipProps {
  readonly point: Point;
  readonly x: number;
  readonly width: number;
  readonly children: React.ReactNode;
}

/** The values of a point, beside it and within the chart. */
function Tooltip({ point: { label, value, costUsd, before }, x, width, children }: TooltipProps) {
  const box = useRef<HTMLDivElement>(null);
  const [left, setLeft] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: its text makes it as wide as it is.
  useLayoutEffect(() => {
    const own = box.current?.offsetWidth ?? 0;
    const beside = x > width / 2 ? x - tipGap - own : x + tipGap;
    setLeft(Math.max(0, Math.min(width - own, beside)));
  }, [x, width, label, children]);
  return (
    <div className="chart-tip" ref={box} style={{ left }}>
      <p className="soft">{label}</p>
      <p>
        <strong>{valueText(value, costUsd)}</strong>
      </p>
      {before && <p className="soft">{texts.point({ label: before.label, value: valueText(before.value) })}</p>}
      {children}
    </div>
  );
}

function valueText(value: number | null, costUsd = 0): string {
  if (value === null) return texts.unknown;
  const acus = texts.acus({ count: value });
  return costUsd > 0 ? texts.withCost({ acus, cost: writeUsd(costUsd) }) : acus;
}

function pointText({ label, value, costUsd, before }: Point): string {
  const known = { label, value: valueText(value, costUsd) };
  if (!before) return texts.point(known);
  return texts.pointBefore({ ...known, before: valueText(before.value), labelBefore: before.label });
}

/** The width of an element in pixels. */
function useWidth(box: React.RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(640);
  useEffect(() => {
    if (!box.current) return;
    const observer = new ResizeObserver(([entry]) => {
      if (entry && entry.contentRect.width > 0) setWidth(Math.round(entry.contentRect.width));
    });
    observer.observe(box.current);
    return () => observer.disconnect();
  }, [box]);
  return width;
}
