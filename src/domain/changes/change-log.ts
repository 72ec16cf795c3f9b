import type { TailedLog } from '../../realtime/log-source.ts';
import type { Topic } from '../../realtime/topics.ts';
import type { ChangeCursor } from './change-cursor.ts';
import { type ChangeScope, type ChangeSource, scopeKey, sourceKey } from './change-source.ts';

/** The changes of a source in a scope, and what the last read found. */
export interface ChangeLog extends TailedLog {
  readonly source: ChangeSource<unknown>;
  readonly scope: ChangeScope;
  /** Position of the last reader that has read everything. */
  position: ChangeCursor | null;
  /** Number of organizations in the scope, and 1 for the enterprise itself. */
  scopeCount: number;
}

/** Makes the {@link ChangeLog} of a source in a scope. */
export const changeLog = (source: ChangeSource<unknown>, scope: ChangeScope): ChangeLog => ({
  key: `${sourceKey(source)}|${scopeKey(scope)}`,
  get topics() {
    const scopeIds = [
      ...(scope.ids ?? ['*']),
      ...(scope.ids !== null && scope.withEnterprise ? [scope.enterpriseId] : []),
    ];
    // Permissions decide which organizations are read.
    return [...source.topics.flatMap((topic) => scopeIds.map((id): Topic => `${topic}:${id}`)), 'keys' as const];
  },
  source,
  scope,
  position: null,
  scopeCount: 0,
});
