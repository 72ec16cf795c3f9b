export const myTokensPage = {
  noTokens: 'No tokens',
  usersOnly: 'Only users who are signed in to all of their organizations have tokens of their own here.',
  create: 'Create token',
  newToken: 'New token',
  intro:
    'A token signs you in to the console and to the APIs, with your own permissions in all of your organizations. Nobody else can read it.',
};

export const devicePage = {
  title: 'Connect a program',
  intro: 'Enter the code that the command line shows. It is valid for 10 minutes.',
  code: 'Code',
  codePlaceholder: 'WDJB-MJHT',
  unknownCode: 'That code isn’t valid. Check for typos, or run the command again to get a new one.',
  question: ({ name }: { readonly name: string }) => `Give “${name}” access?`,
  warning: ({ user }: { readonly user: string }) =>
    `It will act as ${user}, with all your permissions. Approve only if you started it yourself a moment ago. If somebody sent you this code, choose Deny.`,
  address: 'Network address',
  requested: 'Requested',
  inDays: ({ days }: { readonly days: number }) => (days === 365 ? 'In 1 year' : `In ${days} days`),
  never: 'Never',
  approve: 'Approve',
  deny: 'Deny',
  approved: ({ name }: { readonly name: string }) => `“${name}” has access. You can close this page.`,
  denied: 'Access denied. The program gets nothing.',
};
