import { type FormEvent, useState } from 'react';
import { graphql, useLazyLoadQuery, usePaginationFragment } from 'react-relay';
import { Link, useLocation } from 'wouter';
import type { signInLink_user$key } from '../../__generated__/signInLink_user.graphql.ts';
import type { userPage_user$data, userPage_user$key } from '../../__generated__/userPage_user.graphql.ts';
import type { userPageDeleteMutation } from '../../__generated__/userPageDeleteMutation.graphql.ts';
import type { userPagePaginationQuery } from '../../__generated__/userPagePaginationQuery.graphql.ts';
import type { userPageQuery } from '../../__generated__/userPageQuery.graphql.ts';
import type { userPageUpdateMutation } from '../../__generated__/userPageUpdateMutation.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { NotFound } from '../../layout/not-found.tsx';
import { Page } from '../../layout/page.tsx';
import { useMutation } from '../../relay/use-mutation.ts';
import { common } from '../../texts/common.ts';
import { userPage as texts } from '../../texts/users.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { errorOf, TextField } from '../../ui/field.tsx';
import { Time } from '../../ui/time.tsx';
import { useToasts } from '../../ui/toasts.tsx';
import { visible } from '../../ui/visible.ts';
import { FormErrors, FormFields, type FormProblem } from '../kit/kit.ts';
import { scopeOf } from '../kit/scope-input.ts';
import { ActivityButton, DeactivatedNote } from './activity.tsx';
import { RoleList } from './role-list.tsx';
import { SignInLinkSection } from './sign-in-link.tsx';
import { useAssign, useUnassign } from './use-assign.ts';

/** `/manage/users/:id`: a user of the enterprise and their role in each scope. */
export function UserPage({ id }: { readonly id: string }) {
  const { may, viewer } = useSigned();
  const [fetchKey, setFetchKey] = useState(0);
  const { node } = useLazyLoadQuery<userPageQuery>(
    graphql`
      query userPageQuery($id: ID!, $mayLink: Boolean!) {
        node(id: $id) {
          __typename
          ... on User {
            deletedAt
            deactivatedAt
            ...userPage_user @alias(as: "user")
            ...signInLink_user @include(if: $mayLink) @alias(as: "link")
          }
        }
      }
    `,
    // Nobody makes a link for oneself.
    { id, mayLink: may('MANAGE_ACCOUNT_MEMBERSHIP') && viewer.principal?.id !== id },
    { fetchPolicy: 'store-and-network', fetchKey },
  );
  if (node?.__typename !== 'User' || node.deletedAt || !node.user) {
    return <NotFound title={texts.userNotFound} text={texts.notFoundText} path="/manage/users" list={common.users} />;
  }
  return (
    <LoadedUser
      user={node.user}
      link={node.deactivatedAt ? null : node.link}
      onChanged={() => setFetchKey((before) => before + 1)}
    />
  );
}

interface LoadedUserProps {
  readonly user: userPage_user$key;
  /** Missing: the viewer may not create a link for the user. */
  readonly link: signInLink_user$key | null | undefined;
  readonly onChanged: () => void;
}

function LoadedUser({ user, link, onChanged }: LoadedUserProps) {
  const { data, hasNext, isLoadingNext, loadNext } = usePaginationFragment<userPagePaginationQuery, userPage_user$key>(
    graphql`
      fragment userPage_user on User
      @refetchable(queryName: "userPagePaginationQuery")
      @argumentDefinitions(count: { type: "Int", defaultValue: 50 }, cursor: { type: "String" }) {
        id
        userId
        name
        email
        createdAt
        ...activity_user @alias(as: "activity")
        roleAssignments(first: $count, after: $cursor) @connection(key: "userPage_roleAssignments") {
          edges {
            node {
              organizationId
              organization {
                id
                name
              }
              role {
                id
                roleId
                name
              }
            }
          }
        }
      }
    `,
    user,
  );
  const { may, viewer } = useSigned();
  const toasts = useToasts();
  const [, go] = useLocation();
  const [isDeletion, setDeletion] = useState(false);
  const [assign, isAssigning] = useAssign();
  const [unassign, isRemoving] = useUnassign();
  const [remove, isDeleting] = useMutation<userPageDeleteMutation>(graphql`
    mutation userPageDeleteMutation($input: DeleteUserInput!) {
      deleteUser(input: $input) {
        deletedUserId
        userErrors {
          message
        }
      }
    }
  `);
  const called = data.name ?? data.email;
  const mayChange = may('MANAGE_ACCOUNT_MEMBERSHIP');
  const assignments = data.roleAssignments.edges.map(({ node }) => node);
  const principal = { userId: data.userId };
  const deleteUser = async () => {
    const { errors } = await remove({ input: principal });
    setDeletion(false);
    if (errors !== null) return;
    toasts.say(common.deletedName({ name: called }));
    go('/manage/users');
  };
  return (
    <Page
      title={called}
      actions={
        mayChange && (
          <>
            {viewer.principal?.id !== data.id && <ActivityButton user={data.activity} />}
            <Button tone="danger" onClick={() => setDeletion(true)}>
              {common.delete}
            </Button>
          </>
        )
      }
    >
      <div className="sheets">
        <DeactivatedNote user={data.activity} />
        <Facts user={data} mayChange={mayChange} />
        <RoleList
          called={called}
          assignments={assignments}
          hasMore={hasNext}
          isLoading={isLoadingNext}
          onMore={() => loadNext(50)}
          mayChange={mayChange}
          noRoles={texts.noRoles}
          removeText={() => texts.removeText}
          assign={async (organizationId, roleId) =>
            (await assign({ input: { principal, scope: scopeOf(organizationId), roleId } })).errors
          }
          unassign={async (organizationId) =>
            (await unassign({ input: { principal, scope: scopeOf(organizationId) } })).errors
          }
          isBusy={isAssigning || isRemoving}
          onChanged={onChanged}
        />
        {link && <SignInLinkSection user={link} />}
        <p>
          <Link href="/manage/users">{texts.allUsers}</Link>
        </p>
      </div>
      {isDeletion && (
        <Confirm
          title={common.deleteNameTitle({ name: called })}
          text={texts.deleteText}
          confirmLabel={common.delete}
          isBusy={isDeleting}
          onClose={() => setDeletion(false)}
          onConfirm={() => void deleteUser()}
        />
      )}
    </Page>
  );
}

function Facts({ user, mayChange }: { readonly user: userPage_user$data; readonly mayChange: boolean }) {
  const toasts = useToasts();
  const [errors, setErrors] = useState<readonly FormProblem[] | null>(null);
  const [update, isBusy] = useMutation<userPageUpdateMutation>(
    graphql`
      mutation userPageUpdateMutation($input: UpdateUserInput!) {
        updateUser(input: $input) {
          user {
            id
            name
          }
          userErrors {
            message
            path
          }
        }
      }
    `,
    { isQuiet: true },
  );
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const name = new FormFields(event.currentTarget).textOrNull('name');
    const { errors: refused } = await update({ input: { userId: user.userId, name } });
    setErrors(refused);
    if (refused === null) toasts.say(texts.nameSaved);
  };
  return (
    <section className="card sheet" aria-label={common.user}>
      <dl className="facts">
        <dt>{common.email}</dt>
        <dd>{visible(user.email)}</dd>
        <dt>{texts.id}</dt>
        <dd>
          <code>{user.userId}</code>
        </dd>
        <dt>{texts.added}</dt>
        <dd>
          <Time at={user.createdAt} />
        </dd>
      </dl>
      {mayChange && (
        <form className="form" onSubmit={(event) => void submit(event)}>
          <div className="add-line">
            <TextField label={common.name} name="name" defaultValue={user.name ?? ''} error={errorOf(errors, 'name')} />
            <Button type="submit" isBusy={isBusy}>
              {texts.saveName}
            </Button>
          </div>
          <FormErrors errors={errors} fieldNames={['name']} />
        </form>
      )}
    </section>
  );
}
