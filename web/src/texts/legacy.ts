export const legacyPage = {
  deletedKey: 'Deleted key',
  route: 'Route',
  calls: 'Calls',
  lastCall: 'Last call',
  legacyApi: 'Old API calls',
  intro:
    'Calls to deprecated API routes with keys of this organization. If this list stays empty, no client uses them.',
  listLabel: 'Calls to deprecated routes',
  emptyTitle: 'No calls',
  emptyText: 'No key of this organization has called a deprecated route.',
};
