/** The reason why nothing runs: the operator configured it, or the database is a copy. */
export type MaintenanceReason = 'CONFIGURED' | 'COPIED_DATABASE';

/** Maintenance mode of this process. */
export interface MaintenanceMode {
  readonly since: Date;
  readonly reason: MaintenanceReason;
}

/** The maintenance mode of a process: it serves requests, but nothing is run, sent, expired or deleted. */
export interface Maintenance {
  /** Null: the service works normally. */
  mode(): MaintenanceMode | null;
}
