import { ownerOf, type Viewer } from '../../auth/viewer.ts';
import { type Creators, creatorsOf } from '../list-filter.ts';

/**
 * The creators whose sessions are the viewer's own, so that it may act on them without a permission for all sessions. Null for a key
 * that acts for itself: it may act only by the permissions of its role, also on sessions that it started.
 */
export const ownCreators = (viewer: Viewer): Creators | null =>
  viewer.principal.type === 'SERVICE_KEY' ? null : creatorsOf(ownerOf(viewer));
