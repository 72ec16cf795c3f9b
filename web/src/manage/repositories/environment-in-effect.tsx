import { graphql, useFragment } from 'react-relay';
import type { environmentInEffect_repository$key } from '../../__generated__/environmentInEffect_repository.graphql.ts';
import { Time } from '../../ui/time.tsx';
import { visible } from '../../ui/visible.ts';

/** The definition that applies to new sessions of a repository, with its source and its problems. */
export function EnvironmentInEffect({ repository }: { readonly repository: environmentInEffect_repository$key }) {
  const { environment } = useFragment(
    graphql`
      fragment environmentInEffect_repository on Repository {
        environment {
          path
          commit
          isDefined
          error
          readAt
          setup
          start
          problems {
            line
            message
          }
        }
      }
    `,
    repository,
  );
  if (!environment) return null;
  const { path, commit, isDefined, error, readAt, setup, start, problems } = environment;
  return (
    <section aria-labelledby="in-effect">
      <h3 id="in-effect">In effect</h3>
      {error && <p role="alert">The repository could not be read: {visible(error)}</p>}
      {!error && !isDefined && <p className="hint">No definition: sessions start without a set-up.</p>}
      {isDefined && (
        <dl className="facts">
          <dt>Source</dt>
          <dd>
            {path === null ? (
              'Stored here'
            ) : (
              <>
                <code>{visible(path ?? '')}</code>
                {commit && (
                  <>
                    {' '}
                    at <code>{commit.slice(0, 10)}</code>
                  </>
                )}
                {readAt && (
                  <>
                    , read <Time at={readAt} />
                  </>
                )}
              </>
            )}
          </dd>
          <Commands label="Set-up" commands={setup} />
          <Commands label="Start" commands={start} />
        </dl>
      )}
      {problems.length > 0 && (
        <ul className="problems">
          {problems.map(({ line, message }) => (
            <li key={`${line} ${message}`}>
              {line != null && `Line ${line}: `}
              {visible(message)}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Commands({ label, commands }: { readonly label: string; readonly commands: readonly string[] }) {
  if (commands.length === 0) return null;
  return (
    <>
      <dt>{label}</dt>
      <dd>
        <pre className="code">{visible(commands.join('\n'))}</pre>
      </dd>
    </>
  );
}
