import { type IdKind, idKinds, newId, typeOfKind } from '../../src/domain/ids.ts';
import { type Model, tableOf } from '../../src/store/tables.ts';
import type { Principal } from './principals.ts';
import type { Row } from './rows.ts';
import type { World } from './world.ts';

/** The models of types that have another name. */
const otherModels: Readonly<Partial<Record<IdKind, Model>>> = {
  member: 'RoleAssignment',
  serviceKey: 'ApiKey',
  message: 'LogEntry',
  event: 'LogEntry',
  auditEntry: 'AuditEntry',
};

/** The table of each kind. A missing table has no objects. */
const tables = Object.fromEntries(
  idKinds.map((kind) => [kind, tableOf(otherModels[kind] ?? (typeOfKind(kind) as Model))]),
) as Readonly<Record<IdKind, string>>;

/** Other names of a kind in arguments, fields and parameters; in lower case, without "id". */
const words: Readonly<Record<string, readonly IdKind[]>> = {
  ...Object.fromEntries(idKinds.map((kind) => [kind.toLowerCase(), [kind]])),
  org: ['organization'],
  devin: ['session'],
  connection: ['gitConnection'],
  // Of a folder: a session's parent is a "parent session".
  parent: ['folder'],
  key: ['apiKey'],
  knowledge: ['note'],
  schedule: ['automation'],
  createdby: ['user', 'serviceUser', 'serviceKey'],
  actor: ['user', 'serviceUser', 'apiKey'],
  principal: ['user', 'serviceUser'],
  auditlog: ['auditEntry'],
  auditlogentry: ['auditEntry'],
  // Lists of sessions, and subscriptions to them, whose filters have ids.
  children: ['session'],
  fork: ['session'],
  sessionchange: ['session'],
  waitingforme: ['session'],
  question: ['event'],
  sessionsearch: ['session'],
};

/** Names that look like ids, but identify no stored object. */
const noIds = new Set(
  `clientmutationid macroid eventtypeid appid installationid idpgroupname path branchname
   clientid channelid slackchannelid slackteamid profileid templateid
   optionid agentid workerid`.split(/\s+/),
);

/** The kinds of an id argument by its name; null if the name is not an id's. Throws for an unknown name. */
export function kindsOf(name: string, isId: boolean, within: string): readonly IdKind[] | null {
  // An attachment is referenced by its URL or its id.
  if (/^attachment_?urls$/i.test(name)) return ['attachment'];
  const flat = name
    .replaceAll(/[-_]/g, '')
    .toLowerCase()
    .replace(/^uuid$/, 'id');
  const looksLikeId = /(?:^id|^ids|Id|Ids|_id|_ids)$/.test(name) || /_(?:key|user)$/.test(name);
  // The input of a new session takes any text.
  if (flat === 'snapshotid' && !isId) return null;
  if (noIds.has(flat) || !(isId || looksLikeId)) return null;
  const stem = flat.replace(/ids?$/, '');
  // A plain "id" is the id of the object that it is passed to.
  const what = within.toLowerCase().replace(/^(?:get|find)/, '');
  // In a list filter or a bulk mutation, ids are those of the listed kind. Agents belong to everybody.
  if (stem === '' && what === 'agent') return null;
  const word = stem === '' || (stem === 'parent' && isOfSessions(what)) ? what.replace(/s$/, '') : stem;
  // "createAsUserId" is a user's id. The longest matching name wins, so that a service user is not taken for a user.
  const fitting = Object.keys(words).filter((suffix) => word.endsWith(suffix));
  const best = fitting.toSorted((one, other) => other.length - one.length)[0];
  if (best !== undefined) return words[best] as readonly IdKind[];
  throw new Error(
    `No rule says what "${name}" of ${within} is the id of: add its word to test/tenancy/slots.ts, in \`words\` with its kind, or in \`noIds\`.`,
  );
}

const isOfSessions = (word: string) => /session|^children$|^forks$|^waitingforme$/.test(word);

type Fits = (row: Row) => boolean;

/**
 * Unprefixed ids of objects that the principal may see, its own organization's first; or its enterprise's, for
 * enterprise operations.
 */
export function ownIds(
  world: World,
  principal: Principal,
  kind: IdKind,
  { fits = () => true, isOfEnterprise = false }: { fits?: Fits | undefined; isOfEnterprise?: boolean | undefined } = {},
): string[] {
  const { home } = principal;
  const order = isOfEnterprise ? [...home.slice(1, 2), ...home.slice(0, 1), ...home.slice(2)] : home;
  return rowsOf(world, kind)
    .filter(fits)
    .map((row) => ({ row, tenant: world.tenantOf(tables[kind], row) }))
    .filter(({ row, tenant }) => order.includes(tenant) && principal.maySee(tenant, tables[kind], row))
    .toSorted((one, other) => order.indexOf(one.tenant) - order.indexOf(other.tenant))
    .map(({ row }) => row.id as string);
}

/** One unprefixed id per other tenant that has such an object, hidden from the principal; by tenant. */
export function foreignIds(
  world: World,
  principal: Principal,
  kind: IdKind,
  fits: Fits = () => true,
): Map<string, string> {
  const found = new Map<string, string>();
  for (const row of rowsOf(world, kind).filter(fits)) {
    const tenant = world.tenantOf(tables[kind], row);
    if (!found.has(tenant) && !principal.maySee(tenant, tables[kind], row)) found.set(tenant, row.id as string);
  }
  return found;
}

/** The stored row of an object. */
export function rowOf(world: World, kind: IdKind, id: string): Row | undefined {
  return rowsOf(world, kind).find((row) => row.id === id);
}

function rowsOf(world: World, kind: IdKind): readonly Row[] {
  return world.rows.get(tables[kind]) ?? [];
}

/** A valid id that was never used. */
export const neverId = newId();

/** Text arguments that find or identify objects, with the column that holds another tenant's values. */
const texts: Readonly<Record<string, readonly [table: string, column: string]>> = {
  search: ['session', 'title'],
  query: ['session', 'title'],
  folderpath: ['knowledge_folder', 'name'],
  macro: ['playbook', 'macro'],
  tags: ['session_tag', 'tag'],
  tag: ['session_tag', 'tag'],
  title: ['session', 'title'],
  email: ['user_account', 'email'],
  useremail: ['user_account', 'email'],
  emails: ['user_account', 'email'],
  name: ['organization', 'name'],
  path: ['knowledge_folder', 'name'],
  onlyrepopaths: ['repository', 'path'],
  excluderepopaths: ['repository', 'path'],
};

const textRule = (name: string) => texts[name.replaceAll('_', '').toLowerCase()];

/** Returns true if a text argument of this name finds or identifies objects. */
export const isTelling = (name: string): boolean => textRule(name) !== undefined;

/**
 * A text of each tenant that is hidden from the principal, for an argument of this name; null for a name without such
 * texts.
 */
export function foreignTexts(world: World, principal: Principal, name: string): Map<string, string> | null {
  const rule = textRule(name);
  if (!rule) return null;
  const [table, column] = rule;
  const found = new Map<string, string>();
  for (const row of world.rows.get(table) ?? []) {
    const tenant = world.tenantOf(table, row);
    if (!found.has(tenant) && !principal.maySee(tenant, table, row)) found.set(tenant, row[column] as string);
  }
  return found;
}
