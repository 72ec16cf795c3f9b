import { type FormEvent, useMemo, useRef, useState } from 'react';
import { graphql, useFragment } from 'react-relay';
import type { tags_organization$key } from '../../__generated__/tags_organization.graphql.ts';
import type { tagsAddMutation } from '../../__generated__/tagsAddMutation.graphql.ts';
import type { tagsDefaultMutation } from '../../__generated__/tagsDefaultMutation.graphql.ts';
import type { tagsRemoveMutation } from '../../__generated__/tagsRemoveMutation.graphql.ts';
import { useMutation } from '../../relay/use-mutation.ts';
import { Button } from '../../ui/button.tsx';
import { errorOf, TextField } from '../../ui/field.tsx';
import { Picker } from '../../ui/picker.tsx';
import { useToasts } from '../../ui/toasts.tsx';
import { fixedChoices } from '../../ui/use-choices.ts';
import { visible } from '../../ui/visible.ts';
import { FormErrors, FormFields, type FormProblem } from '../kit/kit.ts';

/** The tags that sessions may have, and the default tag. */
export function Tags({ organization }: { readonly organization: tags_organization$key }) {
  const { organizationId, allowedTags, defaultTag } = useFragment(
    graphql`
      fragment tags_organization on Organization {
        id
        organizationId
        allowedTags
        defaultTag
      }
    `,
    organization,
  );
  const toasts = useToasts();
  const form = useRef<HTMLFormElement>(null);
  const [errors, setErrors] = useState<readonly FormProblem[] | null>(null);
  const [add, isAdding] = useMutation<tagsAddMutation>(
    graphql`
      mutation tagsAddMutation($input: AddAllowedTagsInput!) {
        addAllowedTags(input: $input) {
          organization {
            ...tags_organization
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
  const [remove, isRemoving] = useMutation<tagsRemoveMutation>(graphql`
    mutation tagsRemoveMutation($input: RemoveAllowedTagsInput!) {
      removeAllowedTags(input: $input) {
        organization {
          ...tags_organization
        }
        userErrors {
          message
        }
      }
    }
  `);
  const [setDefault] = useMutation<tagsDefaultMutation>(graphql`
    mutation tagsDefaultMutation($input: UpdateOrganizationInput!) {
      updateOrganization(input: $input) {
        organization {
          ...tags_organization
        }
        userErrors {
          message
        }
      }
    }
  `);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const tags = new FormFields(event.currentTarget).list('tags');
    if (tags.length === 0) return;
    const { errors: refused } = await add({ input: { organizationId, tags } });
    setErrors(refused);
    if (refused === null) form.current?.reset();
  };
  const tags = allowedTags ?? [];
  const choices = useMemo(() => {
    const all = new Set([...(allowedTags ?? []), ...(defaultTag ? [defaultTag] : [])]);
    return fixedChoices([...all].map((tag) => ({ value: tag, label: tag })));
  }, [allowedTags, defaultTag]);
  const choose = async (tag: string | null) => {
    const { errors: refused } = await setDefault({ input: { organizationId, defaultTag: tag } });
    if (refused === null) toasts.say(tag === null ? 'Default tag removed.' : `Default tag set to ${tag}.`);
  };
  return (
    <section className="card sheet" aria-labelledby="tags">
      <header>
        <h2 id="tags">Tags</h2>
        <p>
          {tags.length === 0
            ? 'Sessions can have any tags. Add tags to allow only those.'
            : 'Sessions can have only these tags.'}
        </p>
      </header>
      {tags.length > 0 && (
        <ul className="chips" aria-label="Allowed tags">
          {tags.map((tag) => (
            <li key={tag}>
              {visible(tag)}
              <Button
                tone="quiet"
                size="small"
                icon="close"
                disabled={isRemoving}
                aria-label={`Remove ${tag}`}
                onClick={() => void remove({ input: { organizationId, tags: [tag] } })}
              />
            </li>
          ))}
        </ul>
      )}
      <form ref={form} className="form" onSubmit={(event) => void submit(event)}>
        <div className="add-line">
          <TextField
            label="New tags"
            name="tags"
            placeholder="Separate tags with commas"
            error={errorOf(errors, 'tags')}
          />
          <Button type="submit" icon="plus" isBusy={isAdding}>
            Add
          </Button>
        </div>
        <FormErrors errors={errors} fieldNames={['tags']} />
      </form>
      <Picker
        label="Default tag"
        none="None"
        source={choices}
        value={defaultTag ?? ''}
        onChange={(tag) => void choose(tag || null)}
      />
    </section>
  );
}
