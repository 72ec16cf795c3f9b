import { auditActions as texts } from '../../texts/audit.ts';

/** The words for an action of the audit log: those of the console where it has its own, otherwise those of the action's name. */
export function actionText(action: string): string {
  const own = Object.hasOwn(texts, action) ? texts[action as keyof typeof texts] : undefined;
  if (own !== undefined) return own;
  const text = action
    .toLowerCase()
    .replaceAll('_', ' ')
    .replace(/\borg\b/, 'organization');
  return text.charAt(0).toUpperCase() + text.slice(1);
}
