import { graphql, useFragment } from 'react-relay';
import type { environmentInEffect_repository$key } from '../../__generated__/environmentInEffect_repository.graphql.ts';
import { environmentInEffect as texts } from '../../texts/repositories.ts';
import { RichText } from '../../ui/rich-text.tsx';
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
      <h3 id="in-effect">{texts.inEffect}</h3>
      {error && <p role="alert">{texts.notRead({ error: visible(error) })}</p>}
      {!error && !isDefined && <p className="hint">{texts.noDefinition}</p>}
      {isDefined && (
        <dl className="facts">
          <dt>{texts.source}</dt>
          <dd>
            {path === null ? (
              texts.storedHere
            ) : (
              <>
                <code>{visible(path ?? '')}</code>
                {commit && (
                  <>
                    {' · '}
                    <RichText text={texts.commit} slots={{ commit: <code>{commit.slice(0, 10)}</code> }} />
                  </>
                )}
                {readAt && (
                  <>
                    {' · '}
                    <RichText text={texts.readAt} slots={{ time: <Time at={readAt} /> }} />
                  </>
                )}
              </>
            )}
          </dd>
          <Commands label={texts.setUp} commands={setup} />
          <Commands label={texts.startCommands} commands={start} />
        </dl>
      )}
      {problems.length > 0 && (
        <ul className="problems">
          {problems.map(({ line, message }) => (
            <li key={`${line} ${message}`}>
              {line != null && texts.line({ line })}
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
