import { useState } from 'react';
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
  const secretHint = isKept
    ? isMoved
      ? 'Enter it again, because the host changes.'
      : 'Leave it empty to keep the stored one.'
    : 'You cannot view it after you save it.';
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
        placeholder={isKept ? 'Unchanged' : undefined}
        hint={hint}
        error={errorOf(errors, name)}
      />
    );
  return (
    <>
      <div className="fields">
        {edited === null ? (
          <Select
            label="Kind"
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
          <TextField label="Kind" value={forgeKindLabel(kind)} readOnly />
        )}
        <TextField
          label="Host"
          name="host"
          inputMode="url"
          autoComplete="off"
          spellCheck={false}
          required
          placeholder="git.example.com"
          hint={hostHint(kind, host)}
          value={host}
          onChange={({ target }) => setHost(target.value)}
          error={errorOf(errors, 'host')}
        />
      </div>
      {same !== null && (
        <p className="git-warning">
          <Icon name="warning" /> The connection {visible(same.name)} has this host too. Sessions use the older one,
          unless permissions of their organization decide otherwise.
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
        label="Name"
        name="name"
        autoComplete="off"
        placeholder={host.trim() || 'Name in lists and messages'}
        hint="If you leave it empty, the name is the host."
        defaultValue={edited?.name ?? ''}
        error={errorOf(errors, 'name')}
      />
      {kind === 'GITHUB_APP' && (
        <div className="fields">
          {field('appId', 'App ID')}
          {field('installationId', 'Installation ID', 'Only if the App has several installations.')}
        </div>
      )}
      {field('username', 'User name', 'Leave it empty for a server with public repositories only.')}
      {secret('token', kind === 'GIT_HTTPS' ? 'Password or token' : 'Token', secretHint)}
      {members.privateKey !== undefined && (
        <TextArea
          label="Private key"
          name="privateKey"
          rows={4}
          autoComplete="off"
          spellCheck={false}
          required={isNeeded('privateKey')}
          placeholder={isKept ? 'Unchanged' : '-----BEGIN RSA PRIVATE KEY-----'}
          hint={`The content of the .pem file of the App. ${secretHint}`}
          error={errorOf(errors, 'privateKey')}
        />
      )}
      {secret(
        'webhookSecret',
        'Webhook secret (optional)',
        'The secret with which the forge signs its webhooks. You cannot view it after you save it.',
      )}
      {kind === 'GIT_HTTPS' && (
        <TextField
          label="Repository to test"
          name="repositoryPath"
          autoComplete="off"
          spellCheck={false}
          placeholder="owner/name"
          hint="Test needs it: the server lists no repositories, so a test reads this one. It is not saved."
          error={errorOf(errors, 'repositoryPath')}
        />
      )}
    </>
  );
}

function hostHint(kind: ForgeKind, host: string): string | undefined {
  if (/^\s*http:\/\//i.test(host)) return 'With http, the credential is sent unencrypted. Use https outside of tests.';
  return forgeKinds[kind].defaultHost === '' ? 'A host name, or a base URL with a port or a path.' : undefined;
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
