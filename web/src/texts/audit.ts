import { type Numbers, plural, type Strings } from './kit.ts';

export const auditExport = {
  exported: ({ count }: Numbers<'count'>) => plural(count, { one: 'Exported # entry.', other: 'Exported # entries.' }),
  exportCut: ({ limit }: Strings<'limit'>) => `The export has only the last ${limit} entries. Select fewer days.`,
  entriesRead: ({ count }: Numbers<'count'>) => plural(count, { one: '# entry read', other: '# entries read' }),
  exportCsv: 'Export CSV',
  exportJson: 'Export JSON',
};

export const auditPage = {
  auditLog: 'Audit log',
  actor: 'Actor',
  anyone: 'Anyone',
  action: 'Action',
  anyAction: 'Any action',
  from: 'From',
  to: 'To',
  clear: 'Clear',
  loadingTheAuditLog: 'Loading the audit log',
  keyOrService: 'Key or service',
  unknownAction: 'Unknown action',
  ipAddress: 'IP address',
  details: 'Details',
  noMatchesText: 'Change or clear the filters.',
};

export const actorChoices = {
  serviceUser: 'service user',
};
