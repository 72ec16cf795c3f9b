import { useState } from 'react';
import { common } from '../../texts/common.ts';
import { connectionFields as texts } from '../../texts/git-connections.ts';
import { errorOf, Select, TextArea, TextField } from '../../ui/field.tsx';
import { Icon } from '../../ui/icons.tsx';
import { visible } from '../../ui/visible.ts';
import type { FormFields, FormProblem } from '../kit/kit.ts';
import {
  type ConnectionMember,
  credentialPage,
  type ForgeKind,
  findSameHost,
  forgeKindLabel,
  forgeKinds,
  hostForKind,
} from './forge-kinds.ts';

/** A stored connection whose fields are edited. */
export interface EditedConnection {
  readonly gitConnectionId: string;
  readonly providerType: ForgeKind;
  readonly name: string;
  readonly host: string;
  readonly username: string | null | undefined;
  readonly appId: string | null | undefined;
  readonly installationId: string | null | undefined;
  readonly hasCredential: boolean;
}

interface ConnectionFieldsProps {
  /** Null: a new connection. */
  readonly edited: EditedConnection | null;
  /** The connections that exist. */
  readonly connections: readonly { readonly name: string; readonly host: string }[];
  readonly errors: readonly FormProblem[] | null;
}

/** The fields that show their errors themselves. */
export const connectionFieldNames = [
  ...['providerType', 'name', 'host', 'username', 'token', 'appId', 'installationId', 'privateKey', 'webhookSecret'],
  'repositoryPath',
];

/** The fields of a git connection. Credentials stay in their inputs only: no state or storage has them. */
export function ConnectionFields({ edited, connections, errors }: ConnectionFieldsProps) {
  const [kind, setKind] = useState<ForgeKind>(edited?.providerType ?? 'GITHUB_APP');
  const [host, setHost] = useState(edited?.host ?? forgeKinds.GITHUB_APP.defaultHost);
  const { help, members, credentialLink } = forgeKinds[kind];
  const page = credentialPage(kind, host);
  const same = edited === null ? findSameHost(connections, host) : null;
  const isMoved = edited !== null && host.trim() !== edited.host;
  const isKept = edited?.hasCredential === true;
  const isNeeded = (member: ConnectionMember) => members[member] === true && (!isKept || isMoved);
  const secretHint = isKept ? (isMoved ? texts.enterAgain : texts.leaveEmpty) : texts.shownNever;
  const field = (name: ConnectionMember, label: string, hint?: string) =>
    members[name] !== undefined && (
      <TextField
        label={label}
        name={name}
        autoComplete="off"
        spellCheck={false}
        required={members[name] === true}
        hint={hint}
        defaultValue={(edited as Partial<Record<ConnectionMember, string | null>> | null)?.[name] ?? ''}
        error={errorOf(errors, name)}
      />
    );
  const secret = (name: ConnectionMember, label: string, hint: string) =>
    members[name] !== undefined && (
      <TextField
        label={label}
        name={name}
        type="password"
        autoComplete="off"
        spellCheck={false}
        required={isNeeded(name)}
        placeholder={isKept ? common.unchanged : undefined}
        hint={hint}
        error={errorOf(errors, name)}
      />
    );
  return (
    <>
      <div className="fields">
        {edited === null ? (
          <Select
            label={common.type}
            name="providerType"
            value={kind}
            onChange={({ target }) => {
              const next = target.value as ForgeKind;
              setHost(hostForKind(next, kind, host));
              setKind(next);
            }}
            error={errorOf(errors, 'providerType')}
          >
            {Object.entries(forgeKinds).map(([value, { label }]) => (
              <option value={value} key={value}>
                {label}
              </option>
            ))}
          </Select>
        ) : (
          <TextField label={common.type} value={forgeKindLabel(kind)} readOnly />
        )}
        <TextField
          label={common.host}
          name="host"
          inputMode="url"
          autoComplete="off"
          spellCheck={false}
          required
          placeholder={texts.hostExample}
          hint={hostHint(kind, host)}
          value={host}
          onChange={({ target }) => setHost(target.value)}
          error={errorOf(errors, 'host')}
        />
      </div>
      {same !== null && (
        <p className="git-warning">
          <Icon name="warning" /> {texts.sameHost({ name: visible(same.name) })}
        </p>
      )}
      <p className="git-help">
        {help}{' '}
        {page !== null && (
          <a href={page} target="_blank" rel="noreferrer">
            {credentialLink}
          </a>
        )}
      </p>
      <TextField
        label={common.name}
        name="name"
        autoComplete="off"
        placeholder={host.trim() || texts.namePlaceholder}
        hint={texts.nameHint}
        defaultValue={edited?.name ?? ''}
        error={errorOf(errors, 'name')}
      />
      {kind === 'GITHUB_APP' && (
        <div className="fields">
          {field('appId', texts.appId)}
          {field('installationId', texts.installationId, texts.installationIdHint)}
        </div>
      )}
      {field('username', texts.userName, texts.userNameHint)}
      {secret('token', kind === 'GIT_HTTPS' ? texts.passwordOrToken : common.token, secretHint)}
      {members.privateKey !== undefined && (
        <TextArea
          label={texts.privateKey}
          name="privateKey"
          rows={4}
          autoComplete="off"
          spellCheck={false}
          required={isNeeded('privateKey')}
          placeholder={isKept ? common.unchanged : texts.privateKeyExample}
          hint={texts.privateKeyHint({ secretHint })}
          error={errorOf(errors, 'privateKey')}
        />
      )}
      {secret('webhookSecret', texts.webhookSecret, texts.webhookSecretHint)}
      {kind === 'GIT_HTTPS' && (
        <TextField
          label={texts.testRepository}
          name="repositoryPath"
          autoComplete="off"
          spellCheck={false}
          placeholder={texts.testRepositoryExample}
          hint={texts.testRepositoryHint}
          error={errorOf(errors, 'repositoryPath')}
        />
      )}
    </>
  );
}

function hostHint(kind: ForgeKind, host: string): string | undefined {
  if (/^\s*http:\/\//i.test(host)) return texts.httpHint;
  return forgeKinds[kind].defaultHost === '' ? texts.hostHint : undefined;
}

/** Reads what a test and a change of a connection have in common. A credential that is empty is left out. */
export function readAccess(fields: FormFields, kind: ForgeKind) {
  const { members } = forgeKinds[kind];
  const textOf = (name: ConnectionMember) => (members[name] === undefined ? null : fields.textOrNull(name));
  const [token, privateKey] = [textOf('token'), textOf('privateKey')];
  return {
    host: fields.text('host'),
    ...(members.username !== undefined && { username: textOf('username') }),
    ...(members.appId !== undefined && { appId: fields.text('appId'), installationId: textOf('installationId') }),
    ...(token !== null && { token }),
    ...(privateKey !== null && { privateKey }),
  };
}

/** Reads the fields of a connection that is saved. The name is the host if it is empty. */
export function readConnection(fields: FormFields, kind: ForgeKind) {
  const webhookSecret =
    forgeKinds[kind].members.webhookSecret === undefined ? null : fields.textOrNull('webhookSecret');
  return {
    ...readAccess(fields, kind),
    name: (fields.text('name') || fields.text('host')).slice(0, 100),
    ...(webhookSecret !== null && { webhookSecret }),
  };
}
