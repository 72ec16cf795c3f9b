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

/**
 * Throws FORBIDDEN with the permission's name unless the viewer may execute these actions. Checked each time that an
 * automation runs.
 */
export function requireActionPermissions(viewer: Viewer, { organizationId, actions }: WithActions): void {
  for (const permission of new Set(actions.map(({ type }) => requiredPermissions[type]))) {
    requirePermission(viewer, permission, organizationId, true);
  }
}

/**
 * {@link requireActionPermissions} for a viewer that runs an automation, or gets the secret that runs it: a viewer
 * can't cause actions that it may not execute itself.
 */
export function requireStartPermissions(
  viewer: Viewer,
  automation: WithActions & Pick<AutomationRecord, 'runAsUserId'>,
): void {
  requireActionPermissions(viewer, automation);
  const { organizationId, actions, runAsUserId } = automation;
  // A user's own permissions are checked at the start of the session; an organization has all.
  const startsToo = actions.some((action) => action.type === 'message_session' && action.autoCreate === true);
  if (startsToo && runAsUserId === null) requirePermission(viewer, permissionFor.createSession, organizationId);
}

/**
 * {@link requireStartPermissions} for a viewer that sets the actions and triggers of an automation. An automation on
 * session events receives all listed sessions and puts them into its prompts, so it also needs the permission to view
 * them.
 */
export function requireChangePermissions(
  viewer: Viewer,
  automation: Parameters<typeof requireStartPermissions>[1] & Pick<AutomationRecord, 'triggers'>,
): void {
  requireStartPermissions(viewer, automation);
  const hasSessionTrigger = automation.triggers.some(({ eventType }) => isSessionEvent(eventType));
  if (hasSessionTrigger) requirePermission(viewer, permissionFor.viewSession, automation.organizationId);
}
