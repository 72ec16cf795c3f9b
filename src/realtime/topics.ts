/**
 * What the bell rings for. A topic carries ids only; what happened is read from the database.
 * - `session:<id>`: its log grew or its row changed.
 * - `organization:<id>`: a session of it was made or changed. Listeners of `organization:*` are rung for every organization.
 * - `resources:<id>`: a resource of an organization, or of the enterprise itself, was made, changed or removed. Listeners of
 *   `resources:*` are rung for each.
 * - `command:<id>`: the worker that holds the session should look at its run.
 * - `runs`: a session may wait for a worker.
 * - `organizations`: an organization was deleted.
 * - `automations`: an automation has another next time, or a run of one began to wait.
 * - `webhooks`: an endpoint for webhooks is another.
 * - `deliveries`: a webhook waits to be sent.
 * - `workspaces`: the deletion of a session's workspace was requested.
 * - `maintenance`: maintenance mode has ended.
 * - `keys`: a key was revoked; never held back to be sent with others.
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
  | 'workspaces'
  | 'maintenance'
  | 'keys';
