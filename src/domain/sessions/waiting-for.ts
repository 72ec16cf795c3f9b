import { permissionFor } from '../../auth/permissions.ts';
import { organizationsWith, type Viewer } from '../../auth/viewer.ts';
import type { Creators } from '../list-filter.ts';
import { ownCreators } from './own-sessions.ts';
import { type SessionStatusDetail, waitingDetails } from './status.ts';

/** The sessions that wait for somebody, of those that it may view. */
export interface WaitingFor {
  readonly statusDetail: readonly SessionStatusDetail[];
  /** The sessions of these creators wait for it; null: none does because of who started it. */
  readonly startedBy: Creators | null;
  /** All that wait in these organizations, by bare ids, wait for it. */
  readonly organizations: { readonly all: boolean; readonly ids: readonly string[] };
}

/** The sessions that wait for an answer that the viewer may give. */
export function waitingFor(viewer: Viewer): WaitingFor {
  const { all, ids } = organizationsWith(viewer, permissionFor.sendMessage);
  return { statusDetail: waitingDetails, startedBy: ownCreators(viewer), organizations: { all, ids } };
}
