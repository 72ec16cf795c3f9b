import { type FormEvent, useMemo, useRef, useState } from 'react';
import { graphql, useFragment } from 'react-relay';
import type { tags_organization$key } from '../../__generated__/tags_organization.graphql.ts';
import type { tagsAddMutation } from '../../__generated__/tagsAddMutation.graphql.ts';
import type { tagsDefaultMutation } from '../../__generated__/tagsDefaultMutation.graphql.ts';
import type { tagsRemoveMutation } from '../../__generated__/tagsRemoveMutation.graphql.ts';
import { useMutation } from '../../relay/use-mutation.ts';
import { common } from '../../texts/common.ts';
import { tags as texts } from '../../texts/settings.ts';
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
    if (refused === null) toasts.say(tag === null ? texts.defaultTagRemoved : texts.defaultTagSet({ tag }));
  };
  return (
    <section className="card sheet" aria-labelledby="tags">
      <header>
        <h2 id="tags">{common.tags}</h2>
        <p>{tags.length === 0 ? texts.introAny : texts.introListed}</p>
      </header>
      {tags.length > 0 && (
        <ul className="chips" aria-label={texts.allowedTags}>
          {tags.map((tag) => (
            <li key={tag}>
              {visible(tag)}
              <Button
                tone="quiet"
                size="small"
                icon="close"
                disabled={isRemoving}
                aria-label={common.removeName({ name: tag })}
                onClick={() => void remove({ input: { organizationId, tags: [tag] } })}
              />
            </li>
          ))}
        </ul>
      )}
      <form ref={form} className="form" onSubmit={(event) => void submit(event)}>
        <div className="add-line">
          <TextField
            label={texts.newTags}
            name="tags"
            placeholder={texts.newTagsPlaceholder}
            error={errorOf(errors, 'tags')}
          />
          <Button type="submit" icon="plus" isBusy={isAdding}>
            {common.add}
          </Button>
        </div>
        <FormErrors errors={errors} fieldNames={['tags']} />
      </form>
      <Picker
        label={texts.defaultTag}
        none={common.none}
        source={choices}
        value={defaultTag ?? ''}
        onChange={(tag) => void choose(tag || null)}
      />
    </section>
  );
}
