import type { ForgeDelivery } from '../../forges/interface/events.ts';
import type { ForgeKind } from '../../forges/interface/forge.ts';
import type { Row } from '../../store/tables.ts';
import type { Services } from '../context.ts';
import { newId } from '../ids.ts';
import { namesIn } from './names-in.ts';
import { readSource } from './read-source.ts';

/** GitLab does not mark the accounts of its tokens. */
const botLogin = /^(?:project|group)_\d+_bot/;

/**
 * Returns the text of a verified delivery to store if it names anyone; whether it names the service is decided later, because
 * the names of the connections are not known here. Null: none, or the text of a bot.
 */
export async function findPossibleMention(
  { store }: Pick<Services, 'store'>,
  {
    gitConnectionId,
    kind,
    receivedAt,
  }: Pick<Row<'GitDelivery'>, 'gitConnectionId' | 'receivedAt'> & { readonly kind: ForgeKind },
  delivery: ForgeDelivery,
): Promise<Row<'Mention'> | null> {
  const { repository: path, sender } = delivery;
  if (path === null || sender === null || sender.login === '' || sender.isBot || botLogin.test(sender.login))
    return null;
  const source = readSource(kind, delivery);
  if (source === null || namesIn(source.body).size === 0) return null;
  const [connection] = await store.query<{ enterpriseId: string; host: string }>(
    'select c.enterprise_id as "enterpriseId", c.host_key as host from git_connection c where c.id = $1 and c.deleted_at is null',
    [gitConnectionId],
  );
  if (!connection) return null;
  const { key: sourceKey, ...text } = source;
  return {
    ...{ id: newId(), ...connection, gitConnectionId, path, pathKey: path.toLowerCase(), sourceKey, ...text },
    ...{ authorId: sender.id, authorLogin: sender.login, status: 'pending', organizationId: null, sessionId: null },
    isStart: false,
    ...{
      answer: null,
      answerStartedAt: null,
      attemptCount: 0,
      error: null,
      nextAttemptAt: receivedAt,
      createdAt: receivedAt,
    },
  };
}
