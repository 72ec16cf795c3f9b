/** A series of a panel: its PromQL, and its name with labels in `{{ }}`. */
type Series = readonly [expression: string, legend: string];

/** A panel of the dashboard. */
export interface PanelSpec {
  readonly title: string;
  /** A unit of Grafana. */
  readonly unit?: string;
  readonly description?: string;
  readonly isStacked?: true;
  readonly series: readonly Series[];
}

/** The filter of every series: the processes that the viewer has chosen. */
const chosen = 'instance=~"$instance"';

const all = (metric: string, filter = '') => `switchyard_${metric}{${chosen}${filter && `,${filter}`}}`;
const sumBy = (labels: string, inner: string) => (labels === '' ? `sum(${inner})` : `sum by (${labels}) (${inner})`);
const rate = (metric: string, labels = '', filter = '') =>
  sumBy(labels, `rate(${all(metric, filter)}[$__rate_interval])`);
const legendOf = (labels: string) =>
  labels
    .split(', ')
    .map((label) => `{{${label}}}`)
    .join(' ');
const p95 = (metric: string, labels = ''): Series => [
  `histogram_quantile(0.95, ${rate(`${metric}_bucket`, labels === '' ? 'le' : `le, ${labels}`)})`,
  labels === '' ? 'p95' : legendOf(labels),
];
const rateBy = (metric: string, labels: string, filter = ''): Series => [
  rate(metric, labels, filter),
  legendOf(labels),
];

/** The panels by the rows of the dashboard. */
export const rows: Readonly<Record<string, readonly PanelSpec[]>> = {
  'Sessions and workers': [
    {
      title: 'Sessions by status',
      isStacked: true,
      description: 'Sessions of the whole database that are not over.',
      series: [[`max by (status) (${all('sessions')})`, '{{status}}']],
    },
    {
      title: 'Oldest session in the queue',
      unit: 's',
      description: 'If it grows, no worker has a free slot, or an organization has reached its limit.',
      series: [[`max(${all('session_queue_oldest_age_seconds')})`, 'age']],
    },
    {
      title: 'Worker slots',
      series: [
        [sumBy('', all('worker_sessions')), 'used'],
        [sumBy('', all('worker_slots')), 'slots'],
      ],
    },
    {
      title: 'Claims and lost leases',
      unit: 'ops',
      series: [
        [rate('session_claims_total'), 'claims'],
        [rate('session_leases_lost_total'), 'lost leases'],
      ],
    },
    { title: 'Checkpoints', unit: 'ops', series: [rateBy('checkpoints_total', 'result')] },
    { title: 'Time to save a checkpoint (p95)', unit: 's', series: [p95('checkpoint_duration_seconds')] },
    { title: 'Checkpoints stored', unit: 'Bps', series: [[rate('checkpoint_stored_bytes_total'), 'stored']] },
  ],
  'Agents and models': [
    {
      title: 'Starts and failures of agents',
      unit: 'ops',
      series: [rateBy('agent_starts_total', 'agent'), rateBy('agent_failures_total', 'agent, code')],
    },
    { title: 'Time to start an agent (p95)', unit: 's', series: [p95('agent_start_duration_seconds', 'agent')] },
    { title: 'Duration of turns (p95)', unit: 's', series: [p95('turn_duration_seconds', 'agent')] },
    { title: 'Ends of turns', unit: 'ops', series: [rateBy('turn_duration_seconds_count', 'stop_reason')] },
    { title: 'Tokens per second', series: [rateBy('model_tokens_total', 'model, type')] },
    {
      title: 'Cost per hour',
      unit: 'currencyUSD',
      isStacked: true,
      series: [[`${rate('model_cost_dollars_total', 'model')} * 3600`, '{{model}}']],
    },
  ],
  'API, webhooks and automations': [
    { title: 'Requests', unit: 'reqps', series: [rateBy('http_request_duration_seconds_count', 'api')] },
    {
      title: 'Requests that failed (5xx)',
      unit: 'reqps',
      series: [rateBy('http_request_duration_seconds_count', 'api', 'status="5xx"')],
    },
    { title: 'Time to the response (p95)', unit: 's', series: [p95('http_request_duration_seconds', 'api')] },
    {
      title: 'Streams and subscriptions',
      series: [
        [sumBy('kind', all('open_streams')), '{{kind}}'],
        [sumBy('', all('subscriptions')), 'subscriptions'],
      ],
    },
    {
      title: 'Delay of live updates (p95)',
      unit: 's',
      series: [
        [p95('log_append_duration_seconds')[0], 'until it is written'],
        [p95('log_notification_delay_seconds')[0], 'until it is read'],
      ],
    },
    {
      title: 'Notifications from other processes (by process)',
      unit: 'ops',
      series: [rateBy('notifications_received_total', 'instance')],
    },
    { title: 'Webhooks to deliver', series: [[`max(${all('webhook_deliveries_pending')})`, 'pending']] },
    {
      title: 'Age of the oldest webhook',
      unit: 's',
      series: [[`max(${all('webhook_delivery_oldest_age_seconds')})`, 'age']],
    },
    { title: 'Attempts to deliver webhooks', unit: 'ops', series: [rateBy('webhook_attempts_total', 'result')] },
    {
      title: 'Runs of automations',
      series: [rateBy('automation_runs_total', 'status'), [`max(${all('automations_overdue')})`, 'overdue']],
    },
    { title: 'Delay of automations (p95)', unit: 's', series: [p95('automation_start_delay_seconds')] },
  ],
  'Database and processes': [
    {
      title: 'Connections of the pool',
      series: [
        [sumBy('state', all('database_connections')), '{{state}}'],
        [sumBy('', all('database_connection_requests_waiting')), 'waiting statements'],
      ],
    },
    {
      title: 'Lists from the primary and replicas',
      unit: 'ops',
      series: [rateBy('database_list_reads_total', 'target')],
    },
    {
      title: 'Lag of read replicas',
      unit: 's',
      series: [[`max by (replica) (${all('database_replica_lag_seconds')})`, '{{replica}}']],
    },
    {
      title: 'Processes that use a read replica',
      series: [[sumBy('replica', all('database_replica_usable')), '{{replica}}']],
    },
    {
      title: 'Metrics that could not be read',
      unit: 'ops',
      series: [[rate('metrics_database_errors_total'), 'errors']],
    },
    {
      title: 'Delay of the event loop (p99)',
      unit: 's',
      series: [[`max by (instance) (nodejs_eventloop_lag_p99_seconds{${chosen}})`, '{{instance}}']],
    },
    {
      title: 'Memory',
      unit: 'bytes',
      series: [[`sum by (instance) (process_resident_memory_bytes{${chosen}})`, '{{instance}}']],
    },
    {
      title: 'CPU cores',
      series: [[`sum by (instance) (rate(process_cpu_seconds_total{${chosen}}[$__rate_interval]))`, '{{instance}}']],
    },
  ],
};
