import { inbox as texts } from '../texts/inbox.ts';
import { Button } from '../ui/button.tsx';
import { useToasts } from '../ui/toasts.tsx';
import { switchNotifications, useNotificationState } from './notifications.ts';

/** The button that switches notifications of the browser on and off. */
export function NotificationSwitch() {
  const state = useNotificationState();
  const toasts = useToasts();
  if (state === 'unavailable') return null;
  const press = async () => {
    const next = await switchNotifications(state !== 'on');
    if (next === 'blocked') toasts.fail(texts.notificationsBlocked);
    if (next === 'on') toasts.say(texts.notificationsOn);
  };
  return (
    <Button
      tone="quiet"
      size="small"
      icon="bell"
      aria-pressed={state === 'on'}
      aria-label={state === 'on' ? texts.stopNotifying : texts.notifyMe}
      onClick={() => void press()}
    />
  );
}
