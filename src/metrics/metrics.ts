import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { limitValues } from './limit-values.ts';

/** Upper bounds in seconds of what takes milliseconds: requests, statements and notifications. */
const shortSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Upper bounds in seconds of what an agent does. */
const longSeconds = [0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600];
/** Maximum number of models with series of their own; an agent may report any name. */
const maxModels = 50;

/** The metrics of one process. docs/operations.md lists them. */
export type Metrics = ReturnType<typeof createMetrics>;

/**
 * Creates the metrics of one process. No label has an ID, so that the number of series does not grow with sessions, users or
 * organizations.
 */
export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  const counter = <L extends string = never>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Counter<L>({ name: `switchyard_${name}`, help, labelNames: [...labelNames], registers });
  const gauge = <L extends string = never>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Gauge<L>({ name: `switchyard_${name}`, help, labelNames: [...labelNames], registers });
  const histogram = <L extends string = never>(
    name: string,
    help: string,
    buckets: readonly number[],
    labelNames: readonly L[] = [],
  ) =>
    new Histogram<L>({
      name: `switchyard_${name}`,
      help,
      buckets: [...buckets],
      labelNames: [...labelNames],
      registers,
    });

  const metrics = {
    registry,
    httpDuration: histogram(
      'http_request_duration_seconds',
      'Time from a request to the start of its response, by API and class of the status.',
      shortSeconds,
      ['api', 'status'],
    ),
    sessions: gauge('sessions', 'Sessions that are not over, in the whole database, by status.', ['status']),
    queueOldestAge: gauge(
      'session_queue_oldest_age_seconds',
      'Time for which the oldest session has waited for a worker, in the whole database.',
    ),
    workerSessions: gauge('worker_sessions', 'Sessions with an agent process in this worker.'),
    workerSlots: gauge('worker_slots', 'Maximum number of sessions with an agent process in this worker.'),
    claims: counter('session_claims_total', 'Sessions that this worker has claimed.'),
    leasesLost: counter(
      'session_leases_lost_total',
      'Sessions that this worker had to stop because it no longer held their lease.',
    ),
    agentStarts: counter('agent_starts_total', 'Agents that were started, by profile.', ['agent']),
    agentStartDuration: histogram(
      'agent_start_duration_seconds',
      'Time from the launch of an agent until its session was open, by profile.',
      longSeconds,
      ['agent'],
    ),
    agentFailures: counter('agent_failures_total', 'Runs of agents that ended with an error, by profile and code.', [
      'agent',
      'code',
    ]),
    turnDuration: histogram('turn_duration_seconds', 'Time of a turn, by profile and reason of its end.', longSeconds, [
      'agent',
      'stop_reason',
    ]),
    tokens: counter('model_tokens_total', 'Tokens of models, by model and type: input, cached or output.', [
      'model',
      'type',
    ]),
    cost: counter('model_cost_dollars_total', 'Cost of models in US dollars, by model.', ['model']),
    /** The value of the label `model`. */
    modelLabel: limitValues(maxModels),
    appendDuration: histogram(
      'log_append_duration_seconds',
      'Time to write an entry of an agent to the log of its session.',
      shortSeconds,
    ),
    notificationDelay: histogram(
      'log_notification_delay_seconds',
      'Time from the creation of a log entry until this process has read it for a subscriber.',
      shortSeconds,
    ),
    notificationsReceived: counter(
      'notifications_received_total',
      'Messages of other processes that this process has received through PostgreSQL.',
    ),
    streams: gauge('open_streams', 'Open WebSockets and event streams of this process, by kind.', ['kind']),
    subscriptions: gauge('subscriptions', 'Subscriptions that this process serves.'),
    webhookAttempts: counter('webhook_attempts_total', 'Attempts to deliver webhooks, by result.', ['result']),
    webhookBacklog: gauge('webhook_deliveries_pending', 'Webhooks to deliver, in the whole database.'),
    webhookOldestAge: gauge(
      'webhook_delivery_oldest_age_seconds',
      'Age of the oldest webhook to deliver, in the whole database.',
    ),
    automationRuns: counter('automation_runs_total', 'Runs of automations that this process has recorded, by status.', [
      'status',
    ]),
    automationDelay: histogram(
      'automation_start_delay_seconds',
      'Time from the scheduled time of an automation until its run started.',
      longSeconds,
    ),
    automationsOverdue: gauge(
      'automations_overdue',
      'Automations that should have run more than 30 seconds ago, in the whole database.',
    ),
    poolConnections: gauge('database_connections', 'Connections of the pool to PostgreSQL, by state.', ['state']),
    poolWaiting: gauge('database_connection_requests_waiting', 'Statements that wait for a connection of the pool.'),
    listReads: counter(
      'database_list_reads_total',
      'Lists that this process has read from the primary or a read replica. Absent without replicas.',
      ['target'],
    ),
    replicaLag: gauge(
      'database_replica_lag_seconds',
      'Time by which a read replica is behind the primary. Absent while it does not answer.',
      ['replica'],
    ),
    replicaUsable: gauge('database_replica_usable', 'Whether lists are read from a read replica: 1 or 0.', ['replica']),
    checkpoints: counter('checkpoints_total', 'Checkpoints of workspaces, by result.', ['result']),
    checkpointDuration: histogram('checkpoint_duration_seconds', 'Time to save a checkpoint.', longSeconds),
    checkpointBytes: counter('checkpoint_stored_bytes_total', 'Bytes that checkpoints have stored.'),
    stateErrors: counter(
      'metrics_database_errors_total',
      'Failed reads of the metrics that describe the whole database. They are then absent.',
    ),
  };
  // Known series begin at zero: an alert on an increase would otherwise miss the first one.
  for (const result of ['saved', 'failed']) metrics.checkpoints.inc({ result }, 0);
  for (const result of ['accepted', 'failed']) metrics.webhookAttempts.inc({ result }, 0);
  return metrics;
}

/** Adds the metrics of Node.js and of the operating system: memory, CPU, garbage collection and the delay of the event loop. */
export function addProcessMetrics({ registry }: Metrics): void {
  collectDefaultMetrics({ register: registry });
  // Gauges with names of counters, which promtool refuses. The same numbers by type are in metrics of their own.
  for (const kind of ['handles', 'requests', 'resources']) registry.removeSingleMetric(`nodejs_active_${kind}_total`);
}
