/**
 * The topics of the notifier. A topic carries ids only; the changes are read from the database. Their channels are in channels.ts.
 * - `session:<id>`: its log grew or its row changed.
 * - `organization:<id>`: a session of it was created or changed. Listeners of `organization:*` get all of them.
 * - `resources:<id>`: a resource of an organization, or of the enterprise itself, was created, changed or removed.
 *   Listeners of `resources:*` get all of them.
 * - `command:<id>`: the worker that leases the session should read its run.
 * - `runs`: a session may wait for a worker.
 * - `organizations`: an organization was deleted.
 * - `automations`: an automation's next occurrence changed, or a run of one was queued.
 * - `webhooks`: an endpoint for webhooks changed.
 * - `deliveries`: a webhook waits to be sent.
 * - `git-deliveries`: a webhook of a forge arrived.
 * - `forge-events`: an event of a repository waits for automations.
 * - `environments`: the environment of a repository waits to be read.
 * - `pull-requests`: a pull request at a forge waits to be read.
 * - `provider-keys`: a provider key was created, changed or removed.
 * - `workspaces`: the deletion of a session's workspace was requested.
 * - `maintenance`: maintenance mode has ended.
 * - `provider-keys`: a key of a model provider was created, changed or deleted.
 * - `agent-programs`: the agent programs of a worker changed, or a worker should change them.
 * - `keys`: a key was revoked; always sent at once.
 */
export type Topic =
  | `session:${string}`
  | `organization:${string}`
  | `resources:${string}`
  | `command:${string}`
  | 'runs'
  | 'organizations'
  | 'automations'
  | 'webhooks'
  | 'deliveries'
  | 'git-deliveries'
  | 'forge-events'
  | 'environments'
  | 'pull-requests'
  | 'follow-ups'
  | 'provider-keys'
  | 'workspaces'
  | 'maintenance'
  | 'provider-keys'
  | 'agent-programs'
  | 'workers'
  | 'keys';
