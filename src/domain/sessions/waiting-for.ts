import { permissionFor } from '../../auth/permissions.ts';
import { organizationsWith, type Viewer } from '../../auth/viewer.ts';
import type { Creators } from '../list-filter.ts';
import { ownCreators } from './own-sessions.ts';
import { type SessionStatusDetail, waitingDetails } from './status.ts';

/** The sessions that wait for a principal, of those that it may view. */
export interface WaitingFor {
  readonly statusDetail: readonly SessionStatusDetail[];
  /** The sessions of these creators wait for it; null: none waits for it because of its creator. */
  readonly startedBy: Creators | null;
  /** All waiting sessions in these organizations, by unprefixed ids, wait for it. */
  readonly organizations: { readonly all: boolean; readonly ids: readonly string[] };
}

/** Returns the sessions that wait for an answer that the viewer may give. */
export function waitingFor(viewer: Viewer): WaitingFor {
  const { all, ids } = organizationsWith(viewer, permissionFor.sendMessage);
  return { statusDetail: waitingDetails, startedBy: ownCreators(viewer), organizations: { all, ids } };
}
