export const gate = {
  serviceKey: 'Service key',
};

export const pages = {
  pageNotFound: 'Page not found',
  pageNotFoundText: 'Check the URL. The page may have been removed.',
  viewAllSessions: 'View all sessions',
};
