import { ownerOf, type Viewer } from '../../auth/viewer.ts';
import { type Creators, creatorsOf } from '../list-filter.ts';

/**
 * Returns the creators whose sessions count as the viewer's own, on which it may act without a permission for all
 * sessions. Null for a key that acts for itself: it needs a permission of its role even for sessions that it started.
 */
export const ownCreators = (viewer: Viewer): Creators | null =>
  viewer.principal.type === 'SERVICE_KEY' ? null : creatorsOf(ownerOf(viewer));
