export const legacyPage = {
  deletedKey: 'Deleted key',
  route: 'Route',
  calls: 'Calls',
  lastCall: 'Last call',
  legacyApi: 'Legacy API',
  intro:
    'Calls to deprecated REST routes with keys of this organization. If the list stays empty, no client uses them.',
  listLabel: 'Calls to deprecated routes',
  emptyTitle: 'No calls',
  emptyText: 'No key of this organization has called a deprecated route.',
};
