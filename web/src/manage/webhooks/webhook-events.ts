/** The labels of webhook events, in the order of a form. */
export const webhookEvents: Readonly<Record<string, string>> = {
  SESSION_STATUS_CHANGED: 'Status changes',
  SESSION_MESSAGE: 'Messages',
  SESSION_PULL_REQUEST_OPENED: 'Opened pull requests',
  SESSION_PULL_REQUEST_MERGED: 'Merged pull requests',
  SESSION_PULL_REQUEST_CLOSED: 'Closed pull requests',
  SESSION_FOLLOW_UP_SENT: 'Sent follow-ups',
  SESSION_FOLLOW_UPS_STOPPED: 'Stopped follow-ups',
};
