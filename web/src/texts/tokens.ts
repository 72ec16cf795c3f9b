export const myTokensPage = {
  noTokens: 'No tokens',
  usersOnly: 'Only users who are signed in for all of their organizations have tokens of their own here.',
  create: 'Create token',
  newToken: 'New token',
  intro:
    'A token signs you in to the console and to the APIs, with your own permissions in all of your organizations. Nobody else can read it.',
};
