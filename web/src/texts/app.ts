export const gate = {
  serviceKey: 'Service key',
};

export const pages = {
  pageNotFound: 'Page not found',
  pageNotFoundText: 'Check the URL. The page may have been removed.',
  noAccess: 'You can’t use this page',
  noAccessText: 'Your role doesn’t include the permission. Ask an administrator for it.',
  viewAllSessions: 'View all sessions',
};
