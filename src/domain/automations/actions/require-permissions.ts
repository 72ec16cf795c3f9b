import { permissionFor } from '../../../auth/permissions.ts';
import { requirePermission, type Viewer } from '../../../auth/viewer.ts';
import type { AutomationRecord } from '../model/automations.ts';
import type { Action } from '../model/definition.ts';
import { isSessionEvent } from '../model/event-types.ts';

const requiredPermissions = {
  'start_session': permissionFor.createSession,
  'message_session': permissionFor.sendMessage,
  'monitor_session': permissionFor.createSession,
} as const satisfies Record<Action['type'], string>;

type WithActions = Pick<AutomationRecord, 'organizationId' | 'actions'>;

/** FORBIDDEN, naming the permission, unless these actions are the viewer's to do: looked at each time that an automation acts. */
export function requireActionPermissions(viewer: Viewer, { organizationId, actions }: WithActions): void {
  for (const permission of new Set(actions.map(({ type }) => requiredPermissions[type]))) {
    requirePermission(viewer, permission, organizationId, true);
  }
}

/**
 * {@link requireActionPermissions} of whoever lets an automation act, or has the secret that does: nobody has more done than they may do
 * themselves.
 */
export function requireStartPermissions(
  viewer: Viewer,
  automation: WithActions & Pick<AutomationRecord, 'runAsUserId'>,
): void {
  requireActionPermissions(viewer, automation);
  const { organizationId, actions, runAsUserId } = automation;
  // A user's own rights are asked for when it starts one; an organization has all.
  const startsToo = actions.some((action) => action.type === 'message_session' && action.autoCreate === true);
  if (startsToo && runAsUserId === null) requirePermission(viewer, permissionFor.createSession, organizationId);
}

/**
 * {@link requireStartPermissions} of whoever says what an automation does, and when. What hears of sessions is told of all listed ones and
 * puts that into its prompts, so that it needs leave to view them, too.
 */
export function requireChangePermissions(
  viewer: Viewer,
  automation: Parameters<typeof requireStartPermissions>[1] & Pick<AutomationRecord, 'triggers'>,
): void {
  requireStartPermissions(viewer, automation);
  const hasSessionTrigger = automation.triggers.some(({ eventType }) => isSessionEvent(eventType));
  if (hasSessionTrigger) requirePermission(viewer, permissionFor.viewSession, automation.organizationId);
}
