import { describe, expect, it } from 'vitest';
import { dashboardText } from '../../scripts/dashboard/dashboard.ts';
import { addProcessMetrics, createMetrics } from '../../src/metrics/metrics.ts';
import { readText } from '../support/tree.ts';

interface Panel {
  readonly title: string;
  readonly type: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string }[];
}

const metrics = createMetrics();
addProcessMetrics(metrics);
const own = await metrics.registry.getMetricsAsJSON();
/** Every name of a series, with the endings of histograms. */
const seriesNames = new Set(
  own.flatMap(({ name, type }) =>
    String(type) === 'histogram' ? ['_bucket', '_count', '_sum'].map((end) => name + end) : [name],
  ),
);
const namesIn = (text: string): string[] => text.match(/\b(?:switchyard|nodejs|process)_[a-z0-9_]+/g) ?? [];

const dashboard: { panels: readonly Panel[]; templating: object } = JSON.parse(
  readText('deploy/grafana/switchyard.json'),
);
const panels = dashboard.panels.filter(({ type }) => type !== 'row');

describe('the Grafana dashboard', () => {
  it('shows only metrics that a process serves, and each of ours', () => {
    const shown = panels.flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => namesIn(expr)));
    expect(shown.filter((name) => !seriesNames.has(name))).toEqual([]);
    const bases = new Set(shown.map((name) => name.replace(/_(?:bucket|count|sum)$/, '')));
    const ours = own.map(({ name }) => name).filter((name) => name.startsWith('switchyard_'));
    expect(ours.filter((name) => !bases.has(name))).toEqual([]);
  });

  it('is what its script writes', () => {
    expect(readText('deploy/grafana/switchyard.json'), 'npm run generate:dashboard').toBe(dashboardText());
  });

  it('has panels that do not overlap', () => {
    const cells = dashboard.panels.flatMap(({ title, gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, n) => [`${x + (n % w)},${y + Math.floor(n / w)}`, title] as const),
    );
    expect(cells.length - new Set(cells.map(([cell]) => cell)).size).toBe(0);
  });
});

it('the alert rules name only metrics that a process serves', () => {
  const named = namesIn(readText('deploy/prometheus/alerts.yaml'));
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((name) => !seriesNames.has(name))).toEqual([]);
});
