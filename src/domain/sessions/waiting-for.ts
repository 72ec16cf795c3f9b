import { permissionFor } from '../../auth/permissions.ts';
import { organizationsWith, ownerOf, type Viewer } from '../../auth/viewer.ts';
import { type Creators, creatorsOf } from '../list-filter.ts';
import { type SessionStatusDetail, waitingDetails } from './status.ts';

/** The sessions that wait for somebody, of those that it may view. */
export interface WaitingFor {
  readonly statusDetail: readonly SessionStatusDetail[];
  /** Those that it started wait for it; null: it starts none. */
  readonly startedBy: Creators | null;
  /** All that wait in these organizations, by bare ids, wait for it. */
  readonly organizations: { readonly all: boolean; readonly ids: readonly string[] };
}

/** The sessions that wait for an answer that the viewer may give. */
export function waitingFor(viewer: Viewer): WaitingFor {
  const { all, ids } = organizationsWith(viewer, permissionFor.sendMessage);
  return { statusDetail: waitingDetails, startedBy: creatorsOf(ownerOf(viewer)), organizations: { all, ids } };
}
