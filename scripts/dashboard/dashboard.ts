import { type PanelSpec, rows } from './panels.ts';

/** The data source that the viewer has chosen. */
const datasource = { type: 'prometheus', uid: '$datasource' };
/** The size of a panel; the width of the dashboard is 24. */
const size = { w: 8, h: 8 } as const;
const panelsPerLine = 24 / size.w;

function panelOf({ title, unit = 'short', description, isStacked, series }: PanelSpec, id: number, index: number) {
  const x = (index % panelsPerLine) * size.w;
  const custom = isStacked ? { stacking: { mode: 'normal' } } : {};
  return {
    id,
    type: 'timeseries',
    title,
    ...(description !== undefined && { description }),
    datasource,
    gridPos: { ...size, x, y: Math.floor(index / panelsPerLine) * size.h },
    fieldConfig: { defaults: { unit, min: 0, custom }, overrides: [] },
    options: { legend: { displayMode: 'list' } },
    targets: series.map(([expr, legendFormat], at) => ({
      refId: String.fromCharCode(65 + at),
      datasource,
      expr,
      legendFormat,
    })),
  };
}

function layOut() {
  let y = 0;
  let id = 0;
  return Object.entries(rows).flatMap(([title, described]) => {
    const row = { id: ++id, type: 'row', title, collapsed: false, gridPos: { x: 0, y: y++, w: 24, h: 1 }, panels: [] };
    const panels = described.map((each, index) => {
      const panel = panelOf(each, ++id, index);
      return { ...panel, gridPos: { ...panel.gridPos, y: y + panel.gridPos.y } };
    });
    y += Math.ceil(described.length / panelsPerLine) * size.h;
    return [row, ...panels];
  });
}

const instances = 'label_values(switchyard_open_streams, instance)';

/** Returns the JSON model of the dashboard, for Grafana 10 and newer. */
export function dashboardText(): string {
  const variables = [
    { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus', current: {}, hide: 0 },
    {
      name: 'instance',
      label: 'Process',
      type: 'query',
      datasource,
      query: { query: instances, refId: 'instance' },
      definition: instances,
      refresh: 2,
      multi: true,
      includeAll: true,
      allValue: '.*',
      current: { text: 'All', value: '$__all' },
      hide: 0,
    },
  ];
  const dashboard = {
    title: 'Switchyard',
    uid: 'switchyard',
    tags: ['switchyard'],
    schemaVersion: 39,
    version: 1,
    editable: true,
    refresh: '30s',
    timezone: 'browser',
    time: { from: 'now-6h', to: 'now' },
    graphTooltip: 1,
    templating: { list: variables },
    annotations: { list: [] },
    panels: layOut(),
  };
  return `${JSON.stringify(dashboard, null, 2)}\n`;
}
