import { beginGithubAppRegistration } from '../../../domain/github-apps/begin-registration.ts';
import { completeGithubAppInstallation } from '../../../domain/github-apps/complete-installation.ts';
import { completeGithubAppRegistration } from '../../../domain/github-apps/complete-registration.ts';
import { addMutation } from './add-mutation.ts';
import { GitConnection } from './git-connections.ts';

addMutation('beginGithubAppRegistration', {
  description:
    'Begins to create a GitHub App from a manifest that has the permissions and the webhook that sessions need. Open `registrationUrl` in a browser: it leads to GitHub, and GitHub back to the console, which calls `completeGithubAppRegistration`. The registration expires after an hour.',
  needs: ['manageGitConnections'],
  input: (t) => ({
    name: t.string({
      required: true,
      description:
        'Name of the git connection: 1 to 100 characters, not blank, unique in the enterprise regardless of case.',
    }),
    host: t.string({
      required: true,
      description:
        'Host of GitHub: `github.com`, or the host name or base URL of a GitHub Enterprise Server. Must be https unless the operator allows http.',
    }),
    githubOrganization: t.string({
      description: 'Login of the organization at GitHub that owns the App. Null for the personal account.',
    }),
  }),
  payload: {
    registrationUrl: {
      type: 'URI',
      description:
        'Page of the service that sends the browser to GitHub. Only the API key that began the registration can complete it. Null if there are user errors.',
    },
    expiresAt: { type: 'DateTime', description: 'Time when the registration expires. Null if there are user errors.' },
  },
  act: (input, { domain }) => beginGithubAppRegistration(domain, input),
});

addMutation('completeGithubAppRegistration', {
  description:
    'Exchanges the code that GitHub gave to the browser for the new GitHub App, and stores it as a git connection. A state is valid once, and only for the API key that began the registration. If GitHub does not answer, call the mutation again.',
  needs: ['manageGitConnections'],
  input: (t) => ({
    code: t.string({ required: true, description: 'Parameter `code` of the address to which GitHub redirected.' }),
    state: t.string({ required: true, description: 'Parameter `state` of that address.' }),
  }),
  payload: {
    gitConnection: GitConnection,
    installationUrl: {
      type: 'URI',
      description: 'Page of GitHub that installs the App in an account. Null if there are user errors.',
    },
  },
  act: (input, { domain }) => completeGithubAppRegistration(domain, input),
});

addMutation('completeGithubAppInstallation', {
  description:
    'Records the installation of a GitHub App in its git connection, after GitHub has confirmed that it is an installation of this App. A connection that has another installation keeps it.',
  needs: ['manageGitConnections'],
  input: (t) => ({
    gitConnectionId: t.id({
      required: true,
      description: 'Global ID of the git connection, or its id such as `git-connection-…`.',
    }),
    installationId: t.string({
      description: 'Id of the installation at GitHub. Null for the only installation of the App.',
    }),
  }),
  payload: { gitConnection: GitConnection },
  act: async ({ gitConnectionId, installationId }, { domain }) => ({
    gitConnection: await completeGithubAppInstallation(domain, gitConnectionId, installationId),
  }),
});
