import { refuse } from '../../../common/errors.ts';
import {
  createGitConnection,
  deleteGitConnection,
  type GitConnectionChange,
  updateGitConnection,
} from '../../../domain/git-connections/change-git-connections.ts';
import {
  type ConnectionCheck,
  checkStoredConnection,
  checkUnsavedConnection,
  type UnsavedConnection,
} from '../../../domain/git-connections/check-connection.ts';
import { rotateGitConnectionWebhookSecret } from '../../../domain/git-connections/rotate-webhook-secret.ts';
import { globalId } from '../../../domain/ids.ts';
import { builder } from '../builder.ts';
import { addMutation, type InputFields } from './add-mutation.ts';
import { GitConnection, GitConnectionReport } from './git-connections.ts';
import { GitFailureCodeEnum, GitProviderTypeEnum } from './git-enums.ts';
import { refuseNulls } from './payloads.ts';

const descriptions = {
  id: 'Global ID of the git connection, or its id such as `git-connection-…`.',
  providerType: 'Kind of the git connection.',
  name: 'Name of the connection: 1 to 100 characters, not blank, unique in the enterprise regardless of case.',
  host: 'Host name of the forge such as `github.com`, or its base URL with a port or a path. Must be https unless the operator allows http.',
} as const;

// `end`: the end of the descriptions of members that an update cannot clear.
const accessFields = (t: InputFields, end = '') => ({
  username: t.string({ description: 'User name for a connection of the kind GIT_HTTPS. Null for none.' }),
  token: t.string({
    description: `Token, or the password for a connection of the kind GIT_HTTPS. It is never returned.${end}`,
  }),
  appId: t.string({ description: `Id of the GitHub App. Required for GITHUB_APP.${end}` }),
  installationId: t.string({
    description: 'Id of the installation of the GitHub App. Null for the only installation.',
  }),
  privateKey: t.string({
    description: `Private key of the GitHub App in PEM format. Required for GITHUB_APP. It is never returned.${end}`,
  }),
});

const webhookSecret = (t: InputFields) =>
  t.string({ description: 'Secret that signs the webhooks of the forge. It is never returned. Null for none.' });

/** The payload of createGitConnection. */
export const CreateGitConnectionPayload = addMutation('createGitConnection', {
  description:
    'Connects an account at a forge. Organizations may use it by git permissions; an only organization needs none. An enterprise has at most 100 git connections.',
  needs: ['manageGitConnections'],
  input: (t) => ({
    providerType: t.field({ type: GitProviderTypeEnum, required: true, description: descriptions.providerType }),
    name: t.string({ required: true, description: descriptions.name }),
    host: t.string({ required: true, description: descriptions.host }),
    ...accessFields(t),
    webhookSecret: webhookSecret(t),
  }),
  takes: 'idempotencyKey',
  payload: { gitConnection: GitConnection },
  act: async (input, { domain }, options) => ({ gitConnection: await createGitConnection(domain, input, options) }),
});

addMutation('updateGitConnection', {
  description:
    'Updates a git connection. A stored credential is never sent to another server: if `providerType` or `host` changes, the credential must be given again. Running sessions use the change at their next call.',
  needs: ['manageGitConnections'],
  input: (t) => ({
    gitConnectionId: t.id({ required: true, description: descriptions.id }),
    providerType: t.field({ type: GitProviderTypeEnum, description: `${descriptions.providerType} Must not be null.` }),
    name: t.string({ description: `${descriptions.name} Must not be null.` }),
    host: t.string({ description: `${descriptions.host} Must not be null.` }),
    ...accessFields(t, ' Must not be null.'),
    webhookSecret: webhookSecret(t),
  }),
  takes: 'expectedVersion',
  payload: { gitConnection: GitConnection },
  act: async ({ gitConnectionId, ...change }, { domain }) => {
    refuseNulls(change, ['providerType', 'name', 'host', 'token', 'appId', 'privateKey']);
    return { gitConnection: await updateGitConnection(domain, gitConnectionId, change as GitConnectionChange) };
  },
});

addMutation('rotateGitConnectionWebhookSecret', {
  description:
    'Replaces the secret of the webhooks of a git connection by a random one. The previous secret is invalid at once. Connections of the kind GIT_HTTPS have none.',
  needs: ['manageGitConnections'],
  input: (t) => ({ gitConnectionId: t.id({ required: true, description: descriptions.id }) }),
  takes: 'idempotencyKey',
  payload: {
    gitConnection: GitConnection,
    webhookSecret: {
      type: 'String',
      description:
        'Secret to enter at the forge. Returned only by the mutation that creates the secret, otherwise null.',
    },
  },
  act: ({ gitConnectionId }, { domain }, options) => rotateGitConnectionWebhookSecret(domain, gitConnectionId, options),
});

addMutation('deleteGitConnection', {
  description:
    'Deletes a git connection with its permissions and erases its credential. Running sessions cannot use it for another call.',
  needs: ['manageGitConnections'],
  input: (t) => ({ gitConnectionId: t.id({ required: true, description: descriptions.id }) }),
  takes: 'expectedVersion',
  payload: { deletedGitConnectionId: 'ID' },
  act: async (input, { domain }) => {
    const { id } = await deleteGitConnection(domain, input.gitConnectionId, input);
    return { deletedGitConnectionId: globalId('gitConnection', id) };
  },
});

const GitConnectionTest = builder.objectRef<ConnectionCheck>('GitConnectionTest').implement({
  description: 'Result of a test of a git connection.',
  fields: (t) => ({
    isOk: t.exposeBoolean('isOk', {
      description:
        'Whether the forge accepts the connection, it lacks no required permission, and it can read the repository of the test.',
    }),
    code: t.expose('code', {
      type: GitFailureCodeEnum,
      nullable: true,
      description: 'Cause of the failure; null if the forge refused nothing.',
    }),
    message: t.exposeString('message', { description: 'Explanation of the result for people.' }),
    report: t.expose('report', {
      type: GitConnectionReport,
      nullable: true,
      description: 'Abilities of the connection; null if the forge did not accept it.',
    }),
  }),
});

addMutation('testGitConnection', {
  description:
    'Tests a git connection by a few reading calls of the forge: either a stored connection, or one that is not stored. The number of calls in a minute is limited.',
  needs: ['manageGitConnections'],
  input: (t) => ({
    gitConnectionId: t.id({
      description: `${descriptions.id} Omit the other members then, except \`repositoryPath\`.`,
    }),
    repositoryPath: t.string({
      description: 'Path of a repository that the test reads too. Required for a connection of the kind GIT_HTTPS.',
    }),
    providerType: t.field({ type: GitProviderTypeEnum, description: 'Kind of a connection that is not stored.' }),
    host: t.string({ description: `Host for a connection that is not stored. ${descriptions.host}` }),
    ...accessFields(t),
  }),
  payload: {
    test: { type: GitConnectionTest, description: 'Result of the test. Null if there are user errors.' },
    gitConnection: {
      type: GitConnection,
      description: 'Stored connection after the test. Null if it is not stored, or there are user errors.',
    },
  },
  act: async ({ gitConnectionId, repositoryPath, ...access }, { domain }) => {
    if (gitConnectionId == null) {
      const test = await checkUnsavedConnection(domain, { ...access, repositoryPath } as UnsavedConnection);
      return { test, gitConnection: null };
    }
    if (Object.values(access).some((value) => value != null)) {
      throw refuse(
        ['gitConnectionId'],
        '"gitConnectionId" must be given alone: a stored credential is only sent to its own server.',
      );
    }
    return checkStoredConnection(domain, gitConnectionId, repositoryPath);
  },
});
