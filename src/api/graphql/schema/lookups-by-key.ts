import type { InputRef, OutputRef } from '@pothos/core';
import type { ScopedKey } from '../../../domain/identity/organizations/scope.ts';
import type { RoleRecord } from '../../../domain/identity/people/roles.ts';
import { type IdKind, parseId } from '../../../domain/ids.ts';
import { isStorable } from '../../../domain/input.ts';
import { findFoldersByPath } from '../../../domain/library/knowledge/folders.ts';
import { findNotesByMacro } from '../../../domain/library/knowledge/notes.ts';
import { findPlaybooksByMacro } from '../../../domain/library/playbooks/playbooks.ts';
import { findSecretsByKey } from '../../../domain/library/secrets/secrets.ts';
import { findSnapshotsByName } from '../../../domain/snapshots/snapshots.ts';
import { builder } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import type { FindByKey } from '../loaders.ts';
import { RoleScopeEnum } from './enums.ts';
import { KnowledgeFolder, KnowledgeNote } from './knowledge.ts';
import { loadById, lookupId } from './lookups.ts';
import { Role, User } from './people.ts';
import { Playbook } from './playbooks.ts';
import { organizationIdOf, ScopeInput } from './scope-input.ts';
import { Secret } from './secrets.ts';
import { Snapshot } from './snapshots.ts';

type Maybe<T> = T | null | undefined;
type Found = Promise<object | null>;

/** The members of a lookup, exactly one of which is set: the id, or another unique key. */
interface By {
  readonly id?: Maybe<string>;
}

interface Lookup<B extends By> {
  readonly name: string;
  readonly type: OutputRef;
  readonly kind: IdKind;
  readonly what: string;
  readonly by: InputRef<B>;
  /** Finds the object by a key other than its id; null if the viewer may see none. */
  readonly find: (context: GraphqlContext, by: B) => Found;
}

/** Adds a field of Query that finds an object by one of several keys. Missing and forbidden both give null. */
function addLookup<B extends By>({ name, type, kind, what, by: input, find }: Lookup<B>): void {
  builder.queryField(name, (t) =>
    t.field({
      type,
      nullable: true,
      description: `Looks up a ${what}. Null if there is none or the viewer may not see it.`,
      args: {
        by: t.arg({ type: input, required: true, description: 'The id or another unique key. Exactly one member.' }),
      },
      resolve: (_root, args, context) => {
        const { by } = args as unknown as { by: B };
        // PostgreSQL cannot store such a text, so nothing has this key.
        if (!isStorable(by)) return null as never;
        return (by.id == null ? find(context, by) : loadById(context, kind, by.id)) as never;
      },
    }),
  );
}

const nothing: Found = Promise.resolve(null);

/** A loader key for a text within a scope; null if the organization's id is invalid. */
function scopeKey(scope: typeof ScopeInput.$inferInput, text: string): ScopedKey | null {
  const organizationId = organizationIdOf(scope);
  if (organizationId === null) return { organizationId, text };
  const unprefixedId = parseId('organization', organizationId);
  return unprefixedId === null ? null : { organizationId: unprefixedId, text };
}

const MacroInput = builder.inputType('MacroInput', {
  description: 'A macro with its scope. A scope has at most one playbook and one knowledge note of each macro.',
  fields: (t) => ({
    macro: t.string({
      required: true,
      description: 'The macro, which begins with `!`. Upper and lower case are alike.',
    }),
    scope: t.field({
      type: ScopeInput,
      required: true,
      description:
        'Organization or enterprise that it belongs to. The scope of an organization does not include what belongs to the enterprise.',
    }),
  }),
});

type ByMacro = By & { readonly macro?: Maybe<typeof MacroInput.$inferInput> };

const macroInput = (name: string, what: string): InputRef<ByMacro> =>
  builder.inputType(name, {
    isOneOf: true,
    description: `Id or macro of a ${what}. Exactly one member.`,
    fields: (t) => ({
      id: t.id({ description: lookupId(what) }),
      macro: t.field({ type: MacroInput, description: `Macro of the ${what}, with its scope.` }),
    }),
  });

const byMacro =
  (find: FindByKey<ScopedKey, object>) =>
  (context: GraphqlContext, { macro }: ByMacro): Found => {
    const key = macro ? scopeKey(macro.scope, macro.macro) : null;
    return key === null ? nothing : context.loaders.ofKeys(find).load(key);
  };

addLookup({
  name: 'playbook',
  type: Playbook,
  kind: 'playbook',
  what: 'playbook by its id or its macro',
  by: macroInput('PlaybookLookupInput', 'playbook'),
  find: byMacro(findPlaybooksByMacro),
});

addLookup({
  name: 'knowledgeNote',
  type: KnowledgeNote,
  kind: 'note',
  what: 'knowledge note by its id or its macro',
  by: macroInput('KnowledgeNoteLookupInput', 'knowledge note'),
  find: byMacro(findNotesByMacro),
});

const FolderPathInput = builder.inputType('FolderPathInput', {
  description: 'The path of a folder of notes with its scope, in which it is unique.',
  fields: (t) => ({
    path: t.string({
      required: true,
      description:
        'Names from the outermost folder to this one, such as `Backend/Databases`. Upper and lower case are alike.',
    }),
    scope: t.field({
      type: ScopeInput,
      required: true,
      description:
        'Organization or enterprise that it belongs to. The scope of an organization does not include what belongs to the enterprise.',
    }),
  }),
});

addLookup({
  name: 'knowledgeFolder',
  type: KnowledgeFolder,
  kind: 'folder',
  what: 'folder of notes by its id or its path',
  by: builder.inputType('KnowledgeFolderLookupInput', {
    isOneOf: true,
    description: 'Id or path of a folder of notes. Exactly one member.',
    fields: (t) => ({
      id: t.id({ description: lookupId('folder') }),
      path: t.field({ type: FolderPathInput, description: 'Path of the folder, with its scope.' }),
    }),
  }),
  find: ({ loaders }, { path }) => {
    const key = path ? scopeKey(path.scope, path.path) : null;
    return key === null ? nothing : loaders.ofKeys(findFoldersByPath).load(key);
  },
});

const SecretKeyInput = builder.inputType('SecretKeyInput', {
  description: 'The key of a secret with its organization, in which it is unique.',
  fields: (t) => ({
    organizationId: t.id({ required: true, description: 'Global ID or REST id of the organization.' }),
    key: t.string({ required: true, description: 'The key, such as `DEPLOY_KEY`. Upper and lower case differ.' }),
  }),
});

addLookup({
  name: 'secret',
  type: Secret,
  kind: 'secret',
  what: 'secret of an organization by its id or its key',
  by: builder.inputType('SecretLookupInput', {
    isOneOf: true,
    description: 'Id or key of a secret of an organization. Exactly one member.',
    fields: (t) => ({
      id: t.id({ description: lookupId('secret') }),
      key: t.field({ type: SecretKeyInput, description: 'Key of the secret, with its organization.' }),
    }),
  }),
  find: ({ loaders }, { key }) => {
    const organizationId = key ? parseId('organization', key.organizationId) : null;
    return key && organizationId !== null
      ? loaders.ofKeys(findSecretsByKey).load({ organizationId, key: key.key })
      : nothing;
  },
});

const SnapshotNameInput = builder.inputType('SnapshotNameInput', {
  description: 'The name of a snapshot with its organization, in which it is unique.',
  fields: (t) => ({
    organizationId: t.id({ required: true, description: 'Global ID or REST id of the organization.' }),
    name: t.string({ required: true, description: 'Name of the snapshot. Upper and lower case differ.' }),
  }),
});

addLookup({
  name: 'snapshot',
  type: Snapshot,
  kind: 'snapshot',
  what: 'snapshot of an organization by its id or its name',
  by: builder.inputType('SnapshotLookupInput', {
    isOneOf: true,
    description: 'Id or name of a snapshot of an organization. Exactly one member.',
    fields: (t) => ({
      id: t.id({ description: lookupId('snapshot') }),
      name: t.field({ type: SnapshotNameInput, description: 'Name of the snapshot, with its organization.' }),
    }),
  }),
  find: ({ loaders }, { name }) => {
    const organizationId = name ? parseId('organization', name.organizationId) : null;
    return name && organizationId !== null
      ? loaders.ofKeys(findSnapshotsByName).load({ organizationId, name: name.name })
      : nothing;
  },
});

addLookup({
  name: 'user',
  type: User,
  kind: 'user',
  what: 'user by the id or the email address',
  by: builder.inputType('UserLookupInput', {
    isOneOf: true,
    description: 'Id or email address of a user. Exactly one member.',
    fields: (t) => ({
      id: t.id({ description: lookupId('user') }),
      email: t.string({ description: 'Email address of the user. Upper and lower case are alike.' }),
    }),
  }),
  find: ({ loaders }, { email }) => (email == null ? nothing : loaders.usersByEmail.load(email)),
});

const RoleNameInput = builder.inputType('RoleNameInput', {
  description: 'The name of a role with its scope, in which it is unique.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'Name of the role. Upper and lower case are alike.' }),
    scope: t.field({
      type: RoleScopeEnum,
      required: true,
      description: 'Whether the role is for an organization or for the enterprise.',
    }),
  }),
});

addLookup({
  name: 'role',
  type: Role,
  kind: 'role',
  what: 'role by its id or its name',
  by: builder.inputType('RoleLookupInput', {
    isOneOf: true,
    description: 'Id or name of a role. Exactly one member.',
    fields: (t) => ({
      id: t.id({ description: 'Global ID or REST id of the role, such as `org_admin` for a built-in one.' }),
      name: t.field({ type: RoleNameInput, description: 'Name of the role, with its scope.' }),
    }),
  }),
  find: ({ loaders }, { name }) =>
    name ? loaders.rolesByName.load({ scope: name.scope as RoleRecord['scope'], name: name.name }) : nothing,
});
