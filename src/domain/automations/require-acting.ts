import { permissionFor } from '../../auth/permissions.ts';
import { requirePermission, type Viewer } from '../../auth/viewer.ts';
import type { AutomationRecord } from './automations.ts';
import type { Action } from './definition.ts';
import { isSessionEvent } from './event-types.ts';

const needed = {
  'start_session': permissionFor.createSession,
  'message_session': permissionFor.sendMessage,
  'monitor_session': permissionFor.createSession,
} as const satisfies Record<Action['type'], string>;

type Acting = Pick<AutomationRecord, 'organizationId' | 'actions'>;

/** FORBIDDEN, naming the permission, unless these actions are the viewer's to do: looked at each time that an automation acts. */
export function requireActions(viewer: Viewer, { organizationId, actions }: Acting): void {
  for (const permission of new Set(actions.map(({ type }) => needed[type]))) {
    requirePermission(viewer, permission, organizationId, true);
  }
}

/**
 * {@link requireActions} of whoever lets an automation act, or has the secret that does: nobody has more done than they may do
 * themselves.
 */
export function requireStarting(viewer: Viewer, automation: Acting & Pick<AutomationRecord, 'runAsUserId'>): void {
  requireActions(viewer, automation);
  const { organizationId, actions, runAsUserId } = automation;
  // A user's own rights are asked for when it starts one; an organization has all.
  const startsToo = actions.some((action) => action.type === 'message_session' && action.autoCreate === true);
  if (startsToo && runAsUserId === null) requirePermission(viewer, permissionFor.createSession, organizationId);
}

/**
 * {@link requireStarting} of whoever says what an automation does, and when. What hears of sessions is told of all listed ones and
 * puts that into its prompts, so that it needs leave to view them, too.
 */
export function requireDirecting(
  viewer: Viewer,
  automation: Parameters<typeof requireStarting>[1] & Pick<AutomationRecord, 'triggers'>,
): void {
  requireStarting(viewer, automation);
  const hears = automation.triggers.some(({ eventType }) => isSessionEvent(eventType));
  if (hears) requirePermission(viewer, permissionFor.viewSession, automation.organizationId);
}
